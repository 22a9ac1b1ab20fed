// The number formats of rule 12: a cast gives the value that the format holds.
#ifndef SKIM_REFERENCE_CASTS_H
#define SKIM_REFERENCE_CASTS_H

#include "llvm/ADT/ArrayRef.h"

namespace skim::reference {

/// Nearest bfloat16, half to even.
double toBf16(double value);
/// Nearest IEEE half precision number, half to even.
double toF16(double value);
/// Nearest e4m3fn, half to even, saturating at 448.
double toFp8(double value);
/// Symmetric integers of one vector: multiples of absmax / `levels`, half to even.
/// `levels` is 127 for int8, 7 for int4.
void quantise(llvm::MutableArrayRef<double> vector, double levels);

} // namespace skim::reference

#endif // SKIM_REFERENCE_CASTS_H

// Object files to code that runs wherever it is put, for any target.
#ifndef SKIM_CODEGEN_CPU_LINKIMAGE_H
#define SKIM_CODEGEN_CPU_LINKIMAGE_H

#include "runtime/cpu/CodeImage.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace skim::cpu {

/// Links an ELF object by itself. `kernels` are the functions whose entry points the image names,
/// in this order. What the object does not define is imported through a table in the image, which
/// the runtime fills; it must be among `importableFunctions()`. Fails where the object has data
/// that is written, or code that depends on where it lies.
llvm::Expected<CodeImage> linkImage(llvm::ArrayRef<char> object,
                                    llvm::ArrayRef<std::string> kernels);

} // namespace skim::cpu

#endif // SKIM_CODEGEN_CPU_LINKIMAGE_H

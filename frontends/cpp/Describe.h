// Names for values in diagnostics. For the sources of this folder.
#ifndef SKIM_FRONTENDS_CPP_DESCRIBE_H
#define SKIM_FRONTENDS_CPP_DESCRIBE_H

#include "mlir/IR/Value.h"

#include <string>

namespace skim {

/// What a value is, with an article: `a set`, `an index`, `a map of f32 over 'head, q, k'`.
std::string describe(mlir::Value value);

/// A number with as many digits as it needs, up to six.
std::string describe(double number);

/// The name of a parameter or an input, empty for any other value.
std::string getSourceName(mlir::Value value);

} // namespace skim

#endif // SKIM_FRONTENDS_CPP_DESCRIBE_H

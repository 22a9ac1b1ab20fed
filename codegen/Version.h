// Which compiler this is.
#ifndef SKIM_CODEGEN_VERSION_H
#define SKIM_CODEGEN_VERSION_H

#include <string>

namespace skim {

/// "0.1.0+3f2a...": the version of the project and a digest of the sources that decide what code a
/// pattern becomes, so that no two compilers that may differ share a version.
std::string compilerVersion();

} // namespace skim

#endif // SKIM_CODEGEN_VERSION_H

#include "codegen/Version.h"

#include "codegen/SourceDigest.h"

std::string skim::compilerVersion() { return SKIM_PROJECT_VERSION "+" SKIM_SOURCE_DIGEST; }

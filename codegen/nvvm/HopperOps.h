// Operations of the `hopper` dialect.
#ifndef SKIM_CODEGEN_NVVM_HOPPEROPS_H
#define SKIM_CODEGEN_NVVM_HOPPEROPS_H

#include "dialect/Tile/TileOps.h"

#include "codegen/nvvm/HopperDialect.h.inc"
#include "codegen/nvvm/HopperEnums.h.inc"

namespace skim::hopper {
class RoleOp;
} // namespace skim::hopper

#define GET_ATTRDEF_CLASSES
#include "codegen/nvvm/HopperAttrs.h.inc"

#define GET_OP_CLASSES
#include "codegen/nvvm/HopperOps.h.inc"

#endif // SKIM_CODEGEN_NVVM_HOPPEROPS_H

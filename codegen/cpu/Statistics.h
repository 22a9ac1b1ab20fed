// Counting what a work item does.
#ifndef SKIM_CODEGEN_CPU_STATISTICS_H
#define SKIM_CODEGEN_CPU_STATISTICS_H

#include "codegen/cpu/KernelArguments.h"

namespace skim::cpu {

/// Adds `amount` (an index) to a counter of the item.
void addToCounter(Code &code, tile::ItemRecordOp item, Counter counter, mlir::Value amount);

} // namespace skim::cpu

#endif // SKIM_CODEGEN_CPU_STATISTICS_H

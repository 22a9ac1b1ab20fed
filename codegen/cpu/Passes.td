// Passes from `tile` to structured loops over vectors, in the order in which they run.
#ifndef SKIM_CODEGEN_CPU_PASSES_TD
#define SKIM_CODEGEN_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

class SkimCpuPass<string flag> : Pass<flag, "::mlir::ModuleOp"> {
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}
class SkimCpuTargetPass<string flag> : SkimCpuPass<flag> {
  let options = [Option<"target", "target", "std::string", "\"native\"",
                        "name of the CPU target, which sets the width of vectors: native, x86-64-v2, x86-64-v3, x86-64-v4 or aarch64 "
                        "(default: native, this machine)">];
}

def LowerProgram : SkimCpuPass<"skim-cpu-lower-program"> {
  let summary = "make each program a function over an array of work items";
  let description = [{
    `tile.program @NAME` becomes `func.func @NAME(arguments, items, first, count, worker)`, the kernel of the binary contract, with the
    program's attributes on it. Its body is one loop over items first to first + count - 1, which starts by loading what an item
    consists of into a `tile.item_record`. `tile.uniform` and `tile.parameter` become values of the record and loads beside it;
    `tile.raise_status` becomes an atomic or. Cells and sets that the item reads outside of regions are evaluated. Runs first.
  }];
}

def LowerItems : SkimCpuPass<"skim-cpu-lower-items"> {
  let summary = "loop over the parts of an item";
  let description = [{
    `tile.for_each_head` and `tile.for_each_row_tile` become loops whose bodies start with the `tile.item_record` of their part; what reads that
    part becomes values beside it, as in `skim-cpu-lower-program`, after which this runs.
  }];
}

def LowerVisits : SkimCpuTargetPass<"skim-cpu-lower-visits"> {
  let summary = "walk visits as loops over stretches of tiles";
  let description = [{
    The end points of all intervals of a `tile.for_each_visit` are computed once. A loop then walks the stretches between them in
    descending order; inside a stretch the same intervals are active, so a stretch without an active touched
    interval is skipped at once. Guards and literals of a tile are evaluated only in stretches that have an active interval with them.
    The body stands in the loop once, with a `tile.visit_record` that says whether its mask applies; carried states are updated in place.
    Runs after `skim-cpu-lower-program`.
  }];
}

def LowerScores : SkimCpuTargetPass<"skim-cpu-lower-scores"> {
  let summary = "evaluate masks and score functions on vectors of rows";
  let description = [{
    `tile.mask` and `tile.map_scores` become loops over vectors of rows and over keys. Their regions are cloned with vector
    types where a value depends on the row; what depends on the key alone stays scalar. Masks also count kept pairs and write the kept relation where the
    caller asks for it. Runs after `skim-cpu-lower-visits`.
  }];
}

def LowerProducts : SkimCpuTargetPass<"skim-cpu-lower-products"> {
  let summary = "make products and the online softmax register-blocked loops";
  let description = [{
    Scores are kept key by key, rows side by side, so that maxima, sums and masks of the softmax work on whole vectors of rows. `tile.issue_dot`
    and `tile.accumulate` become loops around a block of accumulators that stays in registers. Runs after `skim-cpu-lower-scores`.
  }];
}

def LowerMemory : SkimCpuTargetPass<"skim-cpu-lower-memory"> {
  let summary = "copy operands to f32 tiles and store results";
  let description = [{
    `tile.load_queries` becomes a transposing copy, `tile.issue_load` copies of runs of rows that lie in one page, `tile.finish` the division
    by the sums and the stores, `tile.store_positions` a loop over cells of keys. Rows and keys that do not exist are never read. Runs after `skim-cpu-lower-products`.
  }];
}

def LowerCells : SkimCpuTargetPass<"skim-cpu-lower-cells"> {
  let summary = "lower covers, lists, selections and block means";
  let description = [{
    `tile.any`, `tile.store_cell`, `tile.scatter_list` and `tile.pool` become loops; `tile.select` fills a row of scores and calls the
    runtime library. Runs after `skim-cpu-lower-visits`.
  }];
}

def LowerReductions : SkimCpuTargetPass<"skim-cpu-lower-reductions"> {
  let summary = "lower reductions and contributions to loops";
  let description = [{
    `tile.reduce_panel` and `tile.reduce_cells` become the loops of their `tile.contribute`: on vectors of rows where rows are single positions, on vectors of
    elements where cells hold them, otherwise cell by cell. Sums are carried in f64, in registers where one loop meets all that goes to a cell
    and in the accumulators where query heads or tiles of rows are joined. Runs after `skim-cpu-lower-items`.
  }];
}

def LowerDotPanel : SkimCpuTargetPass<"skim-cpu-lower-dot-panel"> {
  let summary = "make products of panels register-blocked loops";
  let description = [{
    `tile.dot_panel` copies tiles of key vectors to f32 and multiplies them as `tile.issue_dot` is multiplied. Tiles that no row of the item sees
    are filled with NaN, and so are hidden cells near the diagonal. Runs after `skim-cpu-lower-reductions`.
  }];
}

def LowerPanels : SkimCpuTargetPass<"skim-cpu-lower-panels"> {
  let summary = "lower queries, smoothed rows and selections of panels";
  let description = [{
    `tile.load_panel` becomes a transposing copy, `tile.smooth_panel` a loop over columns on vectors of rows; `tile.select_panel` fills one row of scores after the other
    and calls the runtime library. Runs after `skim-cpu-lower-reductions`.
  }];
}

def ExpandMath : SkimCpuTargetPass<"skim-cpu-expand-math"> {
  let summary = "replace functions of math by polynomials";
  let description = [{
    exp, log and tanh of f32 become MLIR's polynomial approximations, without calls. Where the target has no fused multiply-add
    instruction, `math.fma` becomes a product and a sum.
  }];
}

#endif // SKIM_CODEGEN_CPU_PASSES_TD

// Passes from `tile` to kernels of sm_90a, in the order in which they run.
#ifndef SKIM_CODEGEN_NVVM_PASSES_TD
#define SKIM_CODEGEN_NVVM_PASSES_TD

include "mlir/Pass/PassBase.td"

class SkimNvvmPass<string flag> : Pass<flag, "::mlir::ModuleOp"> {
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect", "::skim::hopper::HopperDialect"];
}

def BoundScores : SkimNvvmPass<"skim-nvvm-bound-scores"> {
  let summary = "have the runtime bound the scores of attention programs";
  let description = [{
    Adds a buffer to the launch plan that receives the largest norm of a key for each request and KV head, and names it on the attention program, where scores are products
    of queries and keys of bf16 that nothing changes before the softmax: then no score passes the product of its query's norm and that one, and the softmax can do without maxima
    (see `hopper.online_softmax`). Runs before the launch plan is taken from the module.
  }];
}

def CountVisits : SkimNvvmPass<"skim-nvvm-count-visits"> {
  let summary = "have work items of attention ordered by what they visit";
  let description = [{
    Where the visits of an attention program depend on literals, a program that counts them (`hopper.count`) is put in front of it in the launch plan, and named on it: items are then taken the longest
    first, from counts made on the device (LPT, R. L. Graham, Bounds on multiprocessing timing anomalies, 1969). Where positions alone tell what is visited, their order does already. Walks over means of
    the rest are not counted, they are few. Programs that gather keys, and those that would test more than 16 cells for each tile, are left as they are: counting would cost too much. Runs before the launch plan is taken from the module.
  }];
}

def PackKeys : SkimNvvmPass<"skim-nvvm-pack-keys"> {
  let summary = "have the runtime pack the truths of keys in which attention programs search";
  let description = [{
    Where keys are gathered and a condition of the walk is a bool of an input for each key, the same for all rows, adds a buffer to the launch plan that receives these as
    bits, 128 keys in 16 bytes for each request and head, and names it on the condition's `tile.load_cell`. The scheduler then reads bits (see `skim-nvvm-lower-scheduler`). At most two
    inputs are packed, others are read byte by byte. Runs before the launch plan is taken from the module.
  }];
}

def SplitRoles : SkimNvvmPass<"skim-nvvm-split-roles"> {
  let summary = "divide attention programs among a scheduler, loaders and consumers";
  let description = [{
    A `tile.program` that ends in `tile.finish` becomes a `hopper.kernel`. What the item computes once is cloned into the scheduler, which walks the visits and
    publishes them, and into the consumers, which take them as they come; loads become copies of one loader, or of two, of queries and keys and of values, where pages or rows are looked up. Operands and shapes that sm_90a has no
    kernel for are refused here. Where block means take part (`rest mean`), the scheduler publishes the visits of both walks in one stream, and the consumers tell them apart between the
    product of scores and the softmax. Launch plans are dropped: the host has them. Runs first of those that lower.
  }];
}

def LowerPools : SkimNvvmPass<"skim-nvvm-lower-pools"> {
  let summary = "make programs of block means kernels in which each warp takes a block";
  let description = [{
    A `tile.program` of `tile.pool` becomes an `llvm.func` whose warps run the items i, i + n, i + 2n, ..., where i is the number of the warp among all n of the grid. A
    lane sums pairs of columns in f64, so that a warp reads a row at a time. The means are stored as elements of the operands' type, which is what products take.
    Runs after `skim-nvvm-split-roles`.
  }];
}

def LowerVisitCounts : SkimNvvmPass<"skim-nvvm-lower-visit-counts"> {
  let summary = "make programs that count visits kernels in which each warp takes an item";
  let description = [{
    A `tile.program` of `hopper.count` becomes an `llvm.func` whose warps run the items i, i + n, i + 2n, ..., where i is the number of the warp among all n of the grid. Stretches
    without literals are counted at once, tiles of the others tested a lane each. The number is stored in the item. Runs after `skim-nvvm-split-roles`.
  }];
}

def PipelineProducts : SkimNvvmPass<"skim-nvvm-pipeline-products"> {
  let summary = "compute the softmax of a visit under the products of its neighbours";
  let description = [{
    The consumers' `hopper.for_each_published` becomes a loop in which the scores of a visit are issued, then the weighted sum of the visit before, so that the tensor cores work on
    that sum while the softmax is computed (the schedule inside one warpgroup of FlashAttention-3). The first visit and the last sum are peeled. Runs after
    `skim-nvvm-split-roles`.
  }];
}

def LowerKernel : SkimNvvmPass<"skim-nvvm-lower-kernel"> {
  let summary = "make each kernel a function whose warps branch to their roles";
  let description = [{
    `hopper.kernel` becomes an `llvm.func` with the arguments of the binary contract: it makes its barriers, moves registers from the producing warps to the consumers, and
    runs a loop over work items in each role. The scheduler takes items from a counter in memory; the others receive them through shared memory. What reads an item becomes values of its
    `tile.item_record`. Runs after `skim-nvvm-pipeline-products`.
  }];
}

def LowerScheduler : SkimNvvmPass<"skim-nvvm-lower-scheduler"> {
  let summary = "walk visits, a tile a lane";
  let description = [{
    `tile.for_each_visit` becomes the walk over stretches of tiles of the CPU, with thirty-two tiles tested at a time, one a lane; a ballot orders those that are
    visited, and each lane writes its own to the batch that the loaders read. Where a kernel gathers keys, stretches that are not visited as a whole are tested key by key, 128
    a lane, and the kept keys are listed in ascending order. Runs after `skim-nvvm-lower-kernel`.
  }];
}

def LowerCopies : SkimNvvmPass<"skim-nvvm-lower-copies"> {
  let summary = "lower rings: bulk tensor copies, waits and releases";
  let description = [{
    `hopper.copy` and `hopper.copy_queries` become bulk tensor copies that complete on the barrier of their slot; `hopper.for_each_published` a loop over batches;
    `hopper.next_visit`, `hopper.await` and `hopper.release` waits and arrivals. Values behind the last key of a request are overwritten by 0 before they are handed on.
    Listed keys, and pages that no tensor map describes, are copied row by row.
    Runs after `skim-nvvm-lower-scheduler`.
  }];
}

def LowerFragments : SkimNvvmPass<"skim-nvvm-lower-fragments"> {
  let summary = "lower products, masks and the softmax to registers and wgmma";
  let description = [{
    A fragment becomes a struct of the registers that one thread holds, a state the running maxima, sums, due factors and accumulators of its two rows. Products become `wgmma` instructions, masks
    selects by conditions that are bounds on the column where they are affine in the key. Runs after `skim-nvvm-lower-copies`.
  }];
}

def ReloadItemValues : SkimNvvmPass<"skim-nvvm-reload-item-values"> {
  let summary = "compute what few visits need where they need it";
  let description = [{
    What is computed once for an item, and used in a loop over its visits under a condition alone (masks, tests of literals), would occupy registers throughout that loop. Where that
    is more than a few, it is computed again in the branch: loads of what no kernel writes, and arithmetic. Runs after `skim-nvvm-lower-fragments`.
  }];
}

def WrapPrograms : SkimNvvmPass<"skim-nvvm-wrap-programs"> {
  let summary = "make the other programs kernels in which each thread runs items";
  let description = [{
    The functions that the passes of the CPU make of the other programs (lists that are scattered, covers) become
    device functions; a kernel of the same name calls each for the items i, i + n, i + 2n, ..., where i is the number of the thread among all n of the grid.
    Runs after the passes of the CPU, for its target `scalar`.
  }];
}

def ExpandMath : SkimNvvmPass<"skim-nvvm-expand-math"> {
  let summary = "replace functions of math by approximate instructions";
  let description = [{
    exp, log and tanh of f32 become `ex2.approx` and `lg2.approx` with products around them, whose errors stay below 2^-21 of the result (1e-7 for tanh).
  }];
}

#endif // SKIM_CODEGEN_NVVM_PASSES_TD

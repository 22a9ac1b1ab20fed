// The passes from patterns to a launch plan with its tile programs, in the order in which they run.
#ifndef SKIM_PASSES_PASSES_TD
#define SKIM_PASSES_PASSES_TD

include "mlir/Pass/PassBase.td"

class SkimModulePass<string flag> : Pass<flag, "::mlir::ModuleOp"> {
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::skim::ir::SkimDialect", "::skim::tile::TileDialect"];
}

def CreatePlan : SkimModulePass<"skim-create-plan"> {
  let summary = "Declare parameters and inputs of attended patterns";
  let description = [{
    Adds for each `skim.attend` a `tile.plan` with the pattern's parameters (and the labels that a `match` without default lists for them) and inputs.
    Fails when two `skim.attend` name one pattern, or when a `match` on `head` or `kv_head` without default misses a head.

    ```mlir
    skim.attend @p {...}
    // becomes
    tile.plan @p_plan attributes {pattern = "p", problem = #tile.problem<...>} {
      tile.plan_parameter 0 "window" : index default [512.0]
    }
    skim.attend @p {...}
    ```
  }];
}

def ExpandDenseWhen : SkimModulePass<"skim-expand-dense-when"> {
  let summary = "Turn `dense when` into part of the kept and the gathered set";
  let description = [{
    `dense when c` keeps everything where c holds (rule 17): `keep s` becomes `keep (c or s)`, and `compact t` becomes `compact (c or t)`. A `rest` needs nothing more: where all is kept, no block is left for it.
  }];
}

def ExpandSoftmax : SkimModulePass<"skim-expand-softmax"> {
  let summary = "Write softmax as the reductions that it consists of";
  let description = [{
    `softmax(x, over: a)` becomes `exp(x - max(x, over: a)) / sum(exp(x - max(x, over: a)), over: a)`: its rows' maxima and sums are then planned like all reductions.
  }];
}

def MergeEqual : SkimModulePass<"skim-merge-equal"> {
  let summary = "Compute equal values of a pattern once";
  let description = [{
    Of operations with equal operands and attributes the first takes the place of all: a score that is written twice, or that comes from two calls of a pattern, is planned once.
    Runs after `skim-expand-softmax`, so that what softmax consists of is merged too. Operations that nothing needs stay.
  }];
}

def ChooseSchedule : SkimModulePass<"skim-choose-schedule"> {
  let summary = "Choose the tile shape of the attention program";
  let description = [{
    Writes `tile.schedule` on each `skim.attend` that has none, so that few tiles need a mask.

    On the CPU: rows and keys of a tile, the first of 64, 96, 80, 48 and 32 that fits most of the pattern's blocks (one divides the other).

    For `sm_90a`: three consumers of 64 rows by 64 keys, the fastest shape, where no row block of the pattern would be cut; else two consumers by 128 keys,
    or by 64 where some block of keys is not a multiple of 128. Head dimensions over 128 leave registers for two consumers and 64 keys. So do patterns of seven sets or more, and those that
    both search and map scores; where these, or a search or block means, meet values of more than 192 columns, tiles have 32 keys (the first two kinds: from dimensions over 128 on). Keys are gathered where a selection tells keys
    of a tile apart, for all of its rows alike, and no `logit` depends on positions of keys; keys and values are copied row by row in pages that are not a power of two of at least 8 tokens.
    Threads that search and copy have 56 or 80 registers beside three consumers. Of two consumers, for V columns of values and tiles of T keys, a thread has V / 2 + 3 T / 4 + 56, down to a multiple of 8,
    at least 168 (176 beside tiles of 32 keys, 184 where scores are mapped) and at most 232 (216 beside a search); the others keep 504 less twice that.
  }];
  let options = [Option<"target", "target", "std::string", "\"cpu\"", "cpu or sm_90a (default: cpu)">];
}

def PlanSelections : SkimModulePass<"skim-plan-selections"> {
  let summary = "Give maps, lists, selections and run-time covers kernels of their own";
  let description = [{
    Reductions, products, smoothing and casts of whole vectors that have no query axis, or a coarse one, become programs that write their cells, and a
    `tile.stored_map` in the pattern; so do the keys of a product that are not plain operands. What has a fine query axis (1, 2, 4, 8 or 16 positions) is
    left: the program that uses it computes it for its rows, in panels.

    Each `skim.input_list`, `skim.top_k`, `skim.top_p`, and each `skim.cover` of a set that is not affine, becomes a program that writes a byte for each
    cell, and a `tile.stored_set` in the pattern. A cover of an affine set stays: it has a closed form, unless that is too large or the set is needed pair by
    pair: by a scalar expression, or by a set around it (of a cover too) whose own closed form is too large.
    Runs after `skim-create-plan` and `skim-choose-schedule`.
  }];
}

def PlanRest : SkimModulePass<"skim-plan-rest"> {
  let summary = "Plan the block means that `rest mean` needs";
  let description = [{
    Adds the program that pools keys and values into blocks, and notes the buffers on `skim.rest_mean`. Where the blocks that hold a kept pair have no closed form, a further program writes
    them as bytes. Runs after `skim-plan-selections`.
  }];
}

def PlanCompact : SkimModulePass<"skim-plan-compact"> {
  let summary = "Give `compact` a kernel of its own";
  let description = [{
    Replaces `skim.compact` by a program that writes the positions of the set's keys, one row for each of its heads, and notes in the plan which heads these are. Runs
    after `skim-plan-selections`, which has stored what the set needs.
  }];
}

def PlanAttention : SkimModulePass<"skim-plan-attention"> {
  let summary = "Write the attention program";
  let description = [{
    Replaces each `skim.attend` and its pattern by the program that attends: visits in closed form, the mask of tiles that need one, the modified logit, the
    rest, the sink. Runs after all other passes that write programs.
  }];
}

def AssignScratch : SkimModulePass<"skim-assign-scratch"> {
  let summary = "Give panels and sums buffers of the workers";
  let description = [{
    Adds to each plan the `per_worker` buffers in which its programs keep panels, the sums of reductions and rows of scores, and names them in the operations that have none. Within a
    program each has a buffer of its own; programs run one after the other, and share those of one shape. Runs last, for targets that keep panels in memory.

    ```mlir
    %queries = tile.load_panel of %item : !tile.panel<rows = 64, query = 1, elements = 128, f32>
    // becomes, with a buffer "panel" in the slot 3 of the plan,
    %queries = tile.load_panel of %item scratch 3 : !tile.panel<rows = 64, query = 1, elements = 128, f32>
    ```
  }];
}

#endif // SKIM_PASSES_PASSES_TD

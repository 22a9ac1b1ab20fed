// The dialect itself: what the warps of a multiprocessor do.
#ifndef SKIM_CODEGEN_NVVM_HOPPERDIALECT_TD
#define SKIM_CODEGEN_NVVM_HOPPERDIALECT_TD

include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def HopperDialect : Dialect {
  let name = "hopper";
  let cppNamespace = "::skim::hopper";
  let summary = "roles of warps, rings in shared memory, and products that are in flight";
  let description = [{
    The rung between a `tile` program and the instructions of sm_90a. A **kernel** (`hopper.kernel`) is one `tile.program` whose work is divided among
    *roles*: groups of warps that run different code at the same time and hand work to each other through shared memory.

    - The **scheduler** (one warp) takes work items and walks their visits, thirty-two key tiles at a time. It *publishes* each visit.
    - The **loader** (one warp) copies what each published visit needs into *rings*: queries, keys and values, a few slots each. Where all lanes copy row by row,
      a warp of its own, the **value_loader**, copies the values.
    - The **consumers** (one to three warpgroups of 64 rows) wait for slots, multiply, and release them.

    So the set of visited tiles is computed once, and no role can disagree with another: each visit takes and returns one slot of each ring.

    A visit has a *number*, counted from the start of the kernel; visit n uses slot `n mod stages` of the rings of keys and values. Each visit says whether
    it is the last of its item, so that the next product can be issued before anything else of its visit is known.

    Fragments and states are those of the `tile` dialect. A product that was issued is in flight until a `hopper.wait`; what it writes must not be read before.
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::skim::tile::TileDialect"];
}

def Hopper_RoleKind : I32EnumAttr<"Role", "what a group of warps does", [
    I32EnumAttrCase<"Scheduler", 0, "scheduler">,
    I32EnumAttrCase<"Loader", 1, "loader">,
    I32EnumAttrCase<"ValueLoader", 2, "value_loader">,
    I32EnumAttrCase<"Consumer", 3, "consumer">]> {
  let cppNamespace = "::skim::hopper";
  let genSpecializedAttr = 0;
}
def Hopper_RoleAttr : EnumAttr<HopperDialect, Hopper_RoleKind, "role"> {
  let assemblyFormat = "$value";
}

class Hopper_Op<string mnemonic, list<Trait> traits = []> : Op<HopperDialect, mnemonic, traits>;

#endif // SKIM_CODEGEN_NVVM_HOPPERDIALECT_TD

// The dialect itself.
#ifndef SKIM_DIALECT_SKIM_SKIMDIALECT_TD
#define SKIM_DIALECT_SKIM_SKIMDIALECT_TD

include "mlir/IR/OpBase.td"

def SkimDialect : Dialect {
  let name = "skim";
  let cppNamespace = "::skim::ir";
  let summary = "what a sparse attention pattern keeps";
  let description = [{
    A *pattern* is a relation between query positions `q` and key positions `k`, written for one head of one request.
    The dialect says *what* is kept, never how a kernel finds it.

    - A **map** (`!skim.map`) is a function of some *axes*: of query positions, of key positions, of their distance,
      of blocks of them, of heads. Its cells hold vectors, numbers or truth values. A map without position axes is
      *uniform*: parameters, lengths and constants are uniform maps.
    - A **set** (`!skim.set`) is a set of pairs (q, k). The axes of its type say at which granularity it may change.
      Comparisons of positions are `skim.affine_set`, exact MLIR integer sets over q, k and symbols.
    - A **clause** (`skim.keep` and others) says what a set or a value is for.

    Positions are absolute: row i of a request with `q_len` rows and `kv_len` keys is `q = kv_len - q_len + i`. Causality
    (`k <= q`, unless the pattern is `noncausal`) and lengths stand in no set: they are intersected once, at `skim.keep`.
    A cell that does not exist is *undefined*: arithmetic on it is undefined, and comparing or selecting it is false. NaN
    counts as undefined.

    The constraints of each operation are numbered (`dot_c1`); the check in the C++ sources and the test that violates
    it carry the same label.
  }];
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = "void registerTypes();";
}

#endif // SKIM_DIALECT_SKIM_SKIMDIALECT_TD

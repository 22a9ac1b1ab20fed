// What the operation files share.
#ifndef SKIM_DIALECT_SKIM_SKIMBASE_TD
#define SKIM_DIALECT_SKIM_SKIMBASE_TD

include "dialect/Skim/SkimAttrs.td"
include "dialect/Skim/SkimDialect.td"
include "dialect/Skim/SkimTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class SkimOp<string mnemonic, list<Trait> traits = []> : Op<SkimDialect, mnemonic, traits>;

/// Computes a value or a set: no side effects.
class SkimValueOp<string mnemonic, list<Trait> traits = []>
    : SkimOp<mnemonic, !listconcat([Pure], traits)> {
  let hasVerifier = 1;
}

/// Says what a set or a value of the pattern is for.
class SkimClauseOp<string mnemonic, list<Trait> traits = []>
    : SkimOp<mnemonic, !listconcat([HasParent<"PatternOp">], traits)>;

#endif // SKIM_DIALECT_SKIM_SKIMBASE_TD

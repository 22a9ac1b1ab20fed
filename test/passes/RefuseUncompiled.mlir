// RUN: skim-opt --skim-refuse-uncompiled --split-input-file --verify-diagnostics %s

// What no clause needs does not count.
skim.pattern @unused {
  %q = skim.operand Q : !skim.map<head, q : vec>
  %all = skim.affine_set affine_set<(q, k) : (0 == 0)> () : () -> !skim.set<>
  skim.keep %all : !skim.set<>
}
skim.attend @unused {query_heads = 2, kv_heads = 1, head_dim = 64, value_dim = 64, operand = f32, out = f32}

// -----

skim.pattern @far attributes {noncausal} {
  %d = skim.position affine_map<(q, k) -> (q - k)> () : () -> !skim.map<q - k : index>
  %x = skim.convert %d : !skim.map<q - k : index> -> !skim.map<q - k : f32>
  %n = skim.constant 16 : index -> !skim.map<: index>
  // expected-error @+1 {{the cpu target does not compile a selection over 'q - k' in a noncausal pattern}}
  %best = skim.top_k %x, %n : (!skim.map<q - k : f32>, !skim.map<: index>) -> !skim.set<q - k>
  skim.keep %best : !skim.set<q - k>
}
skim.attend @far {query_heads = 2, kv_heads = 1, head_dim = 64, value_dim = 64, operand = f32, out = f32}

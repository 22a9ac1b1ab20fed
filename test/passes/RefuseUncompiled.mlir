// RUN: skim-opt --skim-refuse-uncompiled --split-input-file --verify-diagnostics %s

// What no clause needs does not count.
skim.pattern @unused {
  %q = skim.operand Q : !skim.map<head, q : vec>
  %all = skim.affine_set affine_set<(q, k) : (0 == 0)> () : () -> !skim.set<>
  skim.keep %all : !skim.set<>
}
skim.attend @unused {query_heads = 2, kv_heads = 1, head_dim = 64, value_dim = 64, operand = f32, out = f32}

// -----

skim.pattern @group {
  %q = skim.operand Q : !skim.map<head, q : vec>
  %k = skim.operand K : !skim.map<kv_head, k : vec>
  %pairs = skim.mul %q, %k : (!skim.map<head, q : vec>, !skim.map<kv_head, k : vec>) -> !skim.map<head, q, k : vec>
  // expected-error @+1 {{the cpu target does not compile vectors over both 'q' and 'k' that are joined over heads for each row}}
  %joined = skim.reduce sum %pairs : !skim.map<head, q, k : vec> -> !skim.map<kv_head, q, k : vec>
  %scores = skim.dot %joined, %k visible all : (!skim.map<kv_head, q, k : vec>, !skim.map<kv_head, k : vec>) -> !skim.map<kv_head, q, k : f32>
  %n = skim.constant 16 : index -> !skim.map<: index>
  %best = skim.top_k %scores, %n : (!skim.map<kv_head, q, k : f32>, !skim.map<: index>) -> !skim.set<kv_head, q, k>
  skim.keep %best : !skim.set<kv_head, q, k>
}
skim.attend @group {query_heads = 2, kv_heads = 1, head_dim = 64, value_dim = 64, operand = f32, out = f32}

// RUN: skim-opt %s --skim-plan=target=sm_90a --skim-nvvm-split-roles --skim-nvvm-pipeline-products --skim-nvvm-lower-kernel --skim-nvvm-lower-scheduler | FileCheck %s

// Of more than four intervals, each lane keeps the end points of its own: one minimum or maximum over the lanes finds the next, one ballot which are active.
// CHECK: llvm.func @attention
// CHECK: nvvm.setmaxregister decrease
// CHECK: nvvm.redux.sync max
// CHECK: nvvm.vote.sync ballot
// CHECK: scf.for
// CHECK: nvvm.vote.sync ballot
// CHECK-NOT: tile.for_each_visit

skim.pattern @bands {
  %a = skim.affine_set affine_set<(q, k) : (k - q + 63 >= 0)> () : () -> !skim.set<q - k>
  %b = skim.affine_set affine_set<(q, k) : (q - k - 256 >= 0, k - q + 383 >= 0)> () : () -> !skim.set<q - k>
  %c = skim.affine_set affine_set<(q, k) : (q - k - 1024 >= 0, k - q + 1151 >= 0)> () : () -> !skim.set<q - k>
  %ab = skim.or %a, %b : (!skim.set<q - k>, !skim.set<q - k>) -> !skim.set<q - k>
  %all = skim.or %ab, %c : (!skim.set<q - k>, !skim.set<q - k>) -> !skim.set<q - k>
  skim.keep %all : !skim.set<q - k>
}
skim.attend @bands {query_heads = 8, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16}

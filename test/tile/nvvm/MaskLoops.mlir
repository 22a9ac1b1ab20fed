// RUN: skim-opt %s --skim-plan=target=sm_90a --skim-nvvm-split-roles --skim-nvvm-pipeline-products --skim-nvvm-lower-kernel --skim-nvvm-lower-scheduler --skim-nvvm-lower-copies --skim-nvvm-lower-fragments | FileCheck %s

// What must be evaluated key by key becomes the bits of a word, eight columns a step, ahead of the product whose scores it masks.
// CHECK: nvvm.setmaxregister increase
// CHECK: %[[WORD:.*]] = scf.if {{.*}} -> (i32) {
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (i32)
// CHECK: arith.shli
// CHECK: arith.ori
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: "wgmma.wait_group.sync.aligned 0;"
// CHECK: arith.andi %[[WORD]]
// CHECK: arith.select

skim.pattern @dilated {
  %band = skim.affine_set affine_set<(q, k) : (k - q + 511 >= 0, (q - k) mod 3 == 0)> () : () -> !skim.set<q - k>
  skim.keep %band : !skim.set<q - k>
}
skim.attend @dilated {query_heads = 8, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16}

// RUN: skim-opt %s --skim-plan=target=sm_90a --skim-nvvm-split-roles --skim-nvvm-pipeline-products --skim-nvvm-lower-kernel --skim-nvvm-lower-scheduler --skim-nvvm-lower-copies --skim-nvvm-lower-fragments | FileCheck %s

// Scores of a first product overwrite their registers; later ones add to them.
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: llvm.inline_asm has_side_effects "{ .reg .pred p; setp.ne.b32 p, 0, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
// CHECK: llvm.inline_asm has_side_effects "{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: "wgmma.wait_group.sync.aligned 0;"
// The window is two bounds on the column.
// CHECK: arith.cmpi sle
// CHECK: arith.select
// CHECK: math.exp2
// Weights are the left operand, from registers.
// CHECK: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
// A vote of the warp decides whether references rise.
// CHECK: nvvm.vote.sync any
// CHECK: llvm.store {{.*}} : vector<4xi32>, !llvm.ptr
// CHECK-NOT: hopper.

skim.pattern @window(%window: !skim.map<: index> {skim.name = "window", skim.default = 512 : index}) {
  %band = skim.affine_set affine_set<(q, k)[s0] : (k - q + s0 - 1 >= 0)> (%window) : (!skim.map<: index>) -> !skim.set<q - k>
  skim.keep %band : !skim.set<q - k>
}
skim.attend @window {query_heads = 8, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16}

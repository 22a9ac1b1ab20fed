// RUN: skim-opt %s --skim-plan=target=sm_90a --skim-nvvm-split-roles --skim-nvvm-pipeline-products --skim-nvvm-lower-kernel --skim-nvvm-lower-scheduler | FileCheck %s

// Thirty-two tiles at a time: each lane tests its own, a ballot orders them, and each writes its visit.
// CHECK: llvm.func @attention
// CHECK: nvvm.setmaxregister decrease
// CHECK: scf.while
// CHECK: %[[THIRTY_TWO:.*]] = arith.constant 32 : index
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %[[THIRTY_TWO]]
// CHECK: nvvm.vote.sync ballot
// CHECK: math.ctpop
// CHECK: llvm.store {{.*}} !llvm.ptr<3>
// CHECK-NOT: tile.for_each_visit
// CHECK-NOT: hopper.publish

skim.pattern @window(%window: !skim.map<: index> {skim.name = "window", skim.default = 512 : index}) {
  %band = skim.affine_set affine_set<(q, k)[s0] : (k - q + s0 - 1 >= 0)> (%window) : (!skim.map<: index>) -> !skim.set<q - k>
  skim.keep %band : !skim.set<q - k>
}
skim.attend @window {query_heads = 8, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16}

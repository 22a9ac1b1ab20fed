// RUN: skim-opt %s --skim-plan=target=sm_90a --skim-nvvm-split-roles --skim-nvvm-pipeline-products --skim-nvvm-lower-kernel --skim-nvvm-lower-scheduler --skim-nvvm-lower-copies | FileCheck %s

// CHECK: llvm.func @attention
// CHECK-DAG: nvvm.mbarrier.try_wait
// CHECK: nvvm.mbarrier.arrive.expect_tx
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
// Values of keys that do not exist are cleared before the consumers see them.
// CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// CHECK: nvvm.setmaxregister increase
// One lane of each warp gives a slot back.
// CHECK: llvm.inline_asm has_side_effects "{ .reg .pred p; setp.ne.b32 p, $1, 0; @p mbarrier.arrive.shared::cta.b64 _, [$0]; }"
// That of the queries once all lanes have read the item's record: there may have been no product to wait for.
// CHECK: tile.finish
// CHECK: nvvm.bar.warp.sync
// CHECK-NOT: scf.
// CHECK: mbarrier.arrive.shared::cta.b64
// CHECK-NOT: hopper.copy
// CHECK-NOT: hopper.await
// CHECK-NOT: hopper.next_visit

skim.pattern @window(%window: !skim.map<: index> {skim.name = "window", skim.default = 512 : index}) {
  %band = skim.affine_set affine_set<(q, k)[s0] : (k - q + s0 - 1 >= 0)> (%window) : (!skim.map<: index>) -> !skim.set<q - k>
  skim.keep %band : !skim.set<q - k>
}
skim.attend @window {query_heads = 8, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16}

// RUN: skim-opt %s --skim-plan=target=sm_90a --skim-nvvm-split-roles | FileCheck %s

// The walk over visits stands in the scheduler alone; the loaders copy what it publishes, and the consumers multiply it.
// CHECK-LABEL: hopper.kernel @attention
// CHECK-SAME: schedule = #tile.schedule<rows = 48, keys = 64, stages = 2, consumers = 3, producer_registers = 56, consumer_registers = 152>
// CHECK: hopper.role scheduler {
// CHECK: ^bb0(%[[ITEM:.*]]: !tile.item):
// CHECK: tile.for_each_visit %[[VISIT:.*]] of %[[ITEM]]
// CHECK: hopper.publish %[[VISIT]]
// CHECK: hopper.role loader {
// CHECK: hopper.copy_queries %[[ITEM:.*]]
// CHECK: hopper.for_each_published of %[[ITEM]] {
// CHECK: ^bb0(%[[VISIT:.*]]: !tile.visit, %[[NUMBER:.*]]: i32):
// CHECK: hopper.copy keys %[[VISIT]] number %[[NUMBER]]
// CHECK: hopper.copy values %[[VISIT]] number %[[NUMBER]]
// CHECK: hopper.role consumer {
// CHECK-NOT: tile.for_each_visit
// CHECK: %[[QUERIES:.*]] = hopper.await_queries %{{.*}} : !tile.shared<192x128xbf16, swizzle = 128>
// CHECK: hopper.for_each_published of %{{.*}} carry(%{{.*}} : !tile.state<192x128>)
// CHECK: %[[KEYS:.*]] = hopper.await keys number %{{.*}} : !tile.shared<64x128xbf16, swizzle = 128, stages = 2>
// CHECK: tile.issue_dot %[[QUERIES]], %[[KEYS]]
// CHECK: tile.mask
// CHECK: tile.online_softmax
// CHECK: hopper.await values number
// CHECK: tile.accumulate
// CHECK: tile.finish
// CHECK: hopper.release_queries
// CHECK-NOT: tile.plan

skim.pattern @window(%window: !skim.map<: index> {skim.name = "window", skim.default = 512 : index}) {
  %band = skim.affine_set affine_set<(q, k)[s0] : (k - q + s0 - 1 >= 0)> (%window) : (!skim.map<: index>) -> !skim.set<q - k>
  skim.keep %band : !skim.set<q - k>
}
skim.attend @window {query_heads = 8, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16}

// RUN: skim-opt %s --skim-plan=target=sm_90a --skim-nvvm-split-roles | FileCheck %s
// RUN: skim-opt %s --skim-plan=target=sm_90a --skim-nvvm-split-roles --skim-nvvm-pipeline-products | FileCheck %s --check-prefix=PIPELINE
// RUN: skim-opt %s --skim-plan=target=sm_90a --skim-nvvm-split-roles --skim-nvvm-pipeline-products --skim-nvvm-lower-kernel --skim-nvvm-lower-scheduler --skim-nvvm-lower-copies | FileCheck %s --check-prefix=COPIES

// The scheduler publishes the visits of both walks; whoever needs to know which one a visit is of asks for it.
// CHECK-LABEL: hopper.kernel @attention
// CHECK: hopper.role scheduler {
// CHECK: tile.for_each_visit
// CHECK-SAME: source #tile.source<tokens>
// CHECK: hopper.publish
// CHECK: tile.for_each_visit
// CHECK-SAME: source #tile.source<pooled keys = 0, values = 1, block = 64>
// CHECK: hopper.publish
// CHECK: hopper.role loader {
// CHECK: hopper.for_each_published of %[[ITEM:.*]] {
// CHECK: ^bb0(%[[VISIT:.*]]: !tile.visit, %[[NUMBER:.*]]: i32):
// CHECK: %[[POOLED:.*]], %[[MEANS:.*]] = hopper.pooled_visit %[[VISIT]] of %[[ITEM]] source #tile.source<pooled keys = 0, values = 1, block = 64>
// CHECK: scf.if %[[POOLED]]
// CHECK: hopper.copy keys %[[MEANS]] number %[[NUMBER]]
// CHECK: hopper.copy values %[[MEANS]] number %[[NUMBER]]
// CHECK: else
// CHECK: hopper.copy keys %[[VISIT]] number %[[NUMBER]]
// CHECK: hopper.copy values %[[VISIT]] number %[[NUMBER]]
// One product of scores and one of values: only what stands between them differs. Both branches give scaled scores.
// CHECK: hopper.role consumer {
// CHECK: hopper.for_each_published
// CHECK: tile.issue_dot
// CHECK: %[[POOLED:.*]], %[[MEANS:.*]] = hopper.pooled_visit
// CHECK: %[[SCORES:.*]] = scf.if %[[POOLED]]
// CHECK: tile.map_scores {{.*}} at %[[MEANS]]
// CHECK: math.log
// CHECK: tile.mask
// CHECK: else
// CHECK: tile.map_scores
// CHECK-NEXT: ^bb0(%[[SCORE:.*]]: f32, %{{.*}}: index, %{{.*}}: index):
// CHECK-NEXT: tile.yield %[[SCORE]]
// CHECK: tile.mask
// CHECK: tile.online_softmax %[[SCORES]]
// CHECK: tile.accumulate
// CHECK: tile.finish

// PIPELINE: hopper.role consumer {
// PIPELINE: scf.while
// PIPELINE: %{{.*}}, %[[FIRST:.*]], %{{.*}}, %[[MASKED:.*]], %{{.*}}, %[[POOLED:.*]] = hopper.next_visit
// PIPELINE: hopper.issue_accumulate
// PIPELINE: %[[MEANS:.*]] = tile.visit_record {{.*}} keys(%[[FIRST]], %{{.*}}) masked(%[[MASKED]]) source #tile.source<pooled keys = 0, values = 1, block = 64>
// PIPELINE: scf.if %[[POOLED]]
// PIPELINE-NEXT: tile.map_scores {{.*}} at %[[MEANS]]
// PIPELINE: hopper.online_softmax {{.*}} {scaled}

// The loader waits for the rows that it copies, so that consumers need not know.
// COPIES: llvm.func @attention
// COPIES: nvvm.cp.async.shared.global
// COPIES: nvvm.cp.async.commit.group
// COPIES: nvvm.cp.async.wait.group 0
// COPIES: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>
// COPIES: nvvm.mbarrier.arrive
// COPIES-NOT: hopper.pooled_visit

skim.pattern @window {
  %band = skim.affine_set affine_set<(q, k) : (k - q + 511 >= 0)> () : () -> !skim.set<q - k>
  skim.keep %band : !skim.set<q - k>
  skim.rest_mean query 128 key 64
}
skim.attend @window {query_heads = 8, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16}

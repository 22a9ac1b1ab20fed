// RUN: skim-opt %s --skim-plan=target=sm_90a --skim-nvvm-split-roles --skim-nvvm-pipeline-products | FileCheck %s

// In the loop the scores of one visit are issued before the sum of the visit before, and its softmax is taken under that sum.
// CHECK: hopper.role consumer {
// CHECK: %[[ANY:.*]] = hopper.has_visits
// CHECK: scf.if %[[ANY]]
// CHECK: hopper.next_visit
// CHECK: hopper.wait %{{.*}} pending 0
// CHECK: hopper.online_softmax {{.*}} {first}
// CHECK: scf.while
// CHECK: scf.condition
// CHECK: hopper.next_visit
// CHECK: %[[SCORES:.*]], %{{.*}} = tile.issue_dot
// CHECK: hopper.await values
// CHECK: %[[SUM:.*]] = hopper.issue_accumulate
// CHECK: %[[READY:.*]] = hopper.wait %[[SCORES]] pending 1 keep
// CHECK: hopper.release keys
// CHECK: %[[MASKED:.*]] = tile.mask %[[READY]]
// CHECK: %[[P:.*]], %[[STATE:.*]] = hopper.online_softmax %[[MASKED]], %[[SUM]]
// CHECK: %[[SUMMED:.*]] = hopper.wait %[[STATE]] pending 0 keep
// CHECK: hopper.release values
// CHECK: hopper.rescale %[[SUMMED]]
// CHECK: hopper.pack %[[P]]
// CHECK: scf.yield
// The last sum has nothing to hide it.
// CHECK: hopper.issue_accumulate
// CHECK: hopper.wait %{{.*}} pending 0

skim.pattern @window(%window: !skim.map<: index> {skim.name = "window", skim.default = 512 : index}) {
  %band = skim.affine_set affine_set<(q, k)[s0] : (k - q + s0 - 1 >= 0)> (%window) : (!skim.map<: index>) -> !skim.set<q - k>
  skim.keep %band : !skim.set<q - k>
}
skim.attend @window {query_heads = 8, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16}

// RUN: skim-opt %s --skim-cpu-lower-visits=target=x86-64-v3 -canonicalize | FileCheck %s

// The last end points are met first; within a stretch the literal of the touched interval is tested on each tile,
// the guard of the hidden interval only where the tile is visited.

// CHECK-LABEL: func.func @visits
// CHECK-SAME: %[[I:[^:]*]]: index, %[[STATE:[^:]*]]: !tile.state<64x32>)
// CHECK: %[[ITEM:.*]] = tile.item_record
// End points of [t - 3, t + 1), cut to the tiles that exist.
// CHECK: arith.maxsi
// CHECK: arith.minsi
// CHECK: scf.while (%[[TOP:.*]] = %{{.*}}) : (index) -> index {
// CHECK: } do {
// CHECK: scf.if %{{.*}} {
// CHECK: scf.for
// Cells of the literal on the tile, several as they are smaller: does it hold somewhere, does it fail somewhere.
// CHECK: %[[LITERAL:.*]]:2 = scf.for {{.*}} -> (i1, i1)
// CHECK: llvm.load %{{.*}} -> i8
// CHECK: scf.if %[[LITERAL]]#0 {
// CHECK: %[[MASKED:.*]] = arith.andi
// CHECK: %[[VISIT:.*]] = tile.visit_record of %[[ITEM]] keys(%{{.*}}, %{{.*}}) masked(%[[MASKED]]) source #tile.source<tokens>
// CHECK: tile.issue_load keys %[[VISIT]]
// The state is updated in place.
// CHECK: tile.finish %[[ITEM]], %[[STATE]]

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 32, value_dim = 32, operand = f32, out = f32>
func.func @visits(%args: !llvm.ptr, %counters: memref<4xi64>, %i: index, %state: !tile.state<64x32>) attributes {
    tile.problem = #problem, tile.schedule = #tile.schedule<rows = 64, keys = 64>, tile.items = #tile.items<head = query, axis = queries>} {
  %item = tile.item_record arguments(%args : !llvm.ptr) request(%i) head(%i) kv_head(%i) layer(%i) tile(%i)
      lengths(%i, %i) rows(%i, %i) of 64 keys(%i, %i) first_token(%i) statistics(%counters : memref<4xi64>)
  %lit = tile.literal of %item cells (32, 32) {
  ^bb0(%q: index, %k: index):
    %b = tile.load_cell input 0 (head = query) cells (32, 32) at (%q, %k) of %item : i1
    tile.yield %b : i1
  } : !tile.literal
  %r = tile.for_each_visit %visit of %item literals(%lit)
        touched [interval<lower = affine_map<(t) -> (t - 3)>, upper = affine_map<(t) -> (t + 1)>, literals = [0]>]
        hidden [interval<lower = affine_map<(t) -> (t)>, upper = affine_map<(t) -> (t + 1)>, tile_guard = affine_set<(t, u) : (t - u >= 0)>>]
        source #tile.source<tokens> carry(%s = %state) : !tile.state<64x32> {
      %keys, %kt = tile.issue_load keys %visit : !tile.shared<64x32xf32>
      tile.yield %s : !tile.state<64x32>
  }
  tile.finish %item, %r : !tile.state<64x32>
  return
}

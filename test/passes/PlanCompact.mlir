// RUN: skim-opt --skim-create-plan --skim-choose-schedule --skim-plan-selections --skim-plan-compact --split-input-file %s | FileCheck %s

// One row of positions a KV head; whole cells of the input at once.
// CHECK-LABEL: skim.pattern @layout
// CHECK-NOT:     skim.compact
// CHECK-LABEL: tile.plan @layout_plan compact(head = kv)
// CHECK:         tile.launch @compact
// CHECK-LABEL: tile.program @compact
// CHECK-SAME:    items = #tile.items<head = kv, axis = none>
// CHECK:         tile.for_each_work_item %[[ITEM:.*]] {
// CHECK:           tile.store_positions of %[[ITEM]] cells 16 where {
// CHECK-NEXT:      ^bb0(%[[Q:.*]]: index, %[[K:.*]]: index):
// CHECK-NEXT:        %[[HOLDS:.*]] = tile.load_cell input 0(head = kv) cells(0, 16) at(%[[Q]], %[[K]]) of %[[ITEM]] : i1
// CHECK-NEXT:        tile.yield %[[HOLDS]] : i1
skim.pattern @layout {
  %x = skim.input "layout" : !skim.map<kv_head, k / 16 : bool>
  %s = skim.as_set %x : !skim.map<kv_head, k / 16 : bool> -> !skim.set<kv_head, k / 16>
  skim.keep %s : !skim.set<kv_head, k / 16>
  skim.compact %s : !skim.set<kv_head, k / 16>
}
skim.attend @layout {query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32}

// -----

// A selection stands in a byte map, beside a set in closed form; one row for all heads.
// CHECK-LABEL: tile.plan @best_plan compact(head = none)
// CHECK:         tile.launch @select
// CHECK:         tile.launch @compact
// CHECK-LABEL: tile.program @compact
// CHECK:           tile.store_positions of %{{.*}} cells 1 where {
// CHECK-DAG:         tile.load_cell buffer 0(head = none) cells(0, 1)
// CHECK-DAG:         tile.contains
// CHECK:             arith.ori
skim.pattern @best {
  %x = skim.input "importance" : !skim.map<k : f32>
  %n = skim.constant 16 : index -> !skim.map<: index>
  %chosen = skim.top_k %x, %n : (!skim.map<k : f32>, !skim.map<: index>) -> !skim.set<k>
  %first = skim.affine_set affine_set<(q, k) : (3 - k >= 0)> () : () -> !skim.set<k>
  %s = skim.or %chosen, %first : (!skim.set<k>, !skim.set<k>) -> !skim.set<k>
  skim.keep %first : !skim.set<k>
  skim.compact %s : !skim.set<k>
}
skim.attend @best {query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32}

// -----

// CHECK-LABEL: tile.plan @plain_plan attributes
// CHECK-NOT:   tile.launch
skim.pattern @plain {
  %first = skim.affine_set affine_set<(q, k) : (3 - k >= 0)> () : () -> !skim.set<k>
  skim.keep %first : !skim.set<k>
}
skim.attend @plain {query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32}

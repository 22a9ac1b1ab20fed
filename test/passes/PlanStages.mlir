// RUN: skim-opt --skim-create-plan --skim-choose-schedule --skim-plan-selections --split-input-file %s | FileCheck %s

// Means of blocks of keys are vectors that a program along keys stores; the energy of pairs of blocks joins the
// query heads of a group, and is computed row tile by row tile from the products in a panel.
// CHECK-LABEL: skim.pattern @energy
// CHECK:       %[[ENERGY:.*]] = tile.stored_map buffer [[SLOT:[0-9]+]] causal scored : !skim.map<kv_head, q / 128, k / 128 : f32>
// CHECK:       skim.compare ge %[[ENERGY]]
// CHECK-LABEL: tile.plan @energy_plan
// CHECK:       tile.buffer [[MEANS:[0-9]+]] "reduced" : f32 cell 64
// CHECK:       tile.buffer [[SLOT]] "reduced_1" : f32 cell 1
// CHECK:       "panel" : f32 cell 1 {{.*}} per_worker
// CHECK-LABEL: tile.program @reduced attributes {items = #tile.items<head = kv, axis = keys>
// CHECK:       tile.reduce_cells mean of [[ITEM:%[a-z0-9]+]] to buffer [[MEANS]](head = kv) cells(0, 128) elements 64
// CHECK-NEXT:    tile.contribute of [[ITEM]] cells(0, 1) elements 64 where
// CHECK:           tile.load_element keys of [[ITEM]]
// CHECK-LABEL: tile.program @reduced_0 attributes {items = #tile.items<head = kv, axis = queries>
// CHECK-SAME:  rows = 128
// CHECK:       tile.reduce_cells sum of [[ITEM:%[a-z0-9]+]] causal to buffer [[SLOT]](head = kv) cells(128, 128)
// CHECK-NEXT:    tile.for_each_head %[[HEAD:.*]] of [[ITEM]]
// CHECK-NEXT:      %[[QUERIES:.*]] = tile.load_panel of %[[HEAD]]
// CHECK:           %[[SCORES:.*]] = tile.dot_panel %[[QUERIES]], buffer [[MEANS]](head = kv) {{.*}} : {{.*}} -> !tile.panel<rows = 128, query = 1, key = 128, f32>
// CHECK:           tile.contribute of %[[HEAD]] cells(1, 128) where
// CHECK:             tile.panel_value %[[SCORES]]
// CHECK:             math.exp
skim.pattern @energy {
  %q = skim.operand Q : !skim.map<head, q : vec>
  %k = skim.operand K : !skim.map<kv_head, k : vec>
  %m = skim.reduce mean %k : !skim.map<kv_head, k : vec> -> !skim.map<kv_head, k / 128 : vec>
  %s = skim.dot %q, %m visible all : (!skim.map<head, q : vec>, !skim.map<kv_head, k / 128 : vec>) -> !skim.map<head, q, k / 128 : f32>
  %e = skim.exp %s : !skim.map<head, q, k / 128 : f32>
  %t = skim.reduce sum %e : !skim.map<head, q, k / 128 : f32> -> !skim.map<kv_head, q / 128, k / 128 : f32>
  %one = skim.constant 1.0 : f32 -> !skim.map<: f32>
  %kept = skim.compare ge %t, %one : (!skim.map<kv_head, q / 128, k / 128 : f32>, !skim.map<: f32>) -> !skim.set<kv_head, q / 128, k / 128>
  skim.keep %kept : !skim.set<kv_head, q / 128, k / 128>
}
skim.attend @energy {query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32}

// -----

// Columns are sums over all rows, from the first that is looked at.
// CHECK-LABEL: tile.program @reduced attributes {items = #tile.items<head = query, axis = none>
// CHECK:       %[[FIRST:.*]] = arith.subi
// CHECK:       tile.reduce_cells sum of [[ITEM:%[a-z0-9]+]] causal to buffer {{[0-9]+}}(head = query) cells(0, 1)
// CHECK-NEXT:    tile.for_each_row_tile %[[TILE:.*]] of [[ITEM]] rows 64 from %[[FIRST]]
// CHECK:           tile.dot_panel {{.*}}, keys(head = kv)
// CHECK:           tile.contribute of %[[TILE]] cells(1, 1) where
skim.pattern @columns {
  %q = skim.operand Q : !skim.map<head, q : vec>
  %k = skim.operand K : !skim.map<kv_head, k : vec>
  %n = skim.constant 16 : index -> !skim.map<: index>
  %probe = skim.last %q, %n : (!skim.map<head, q : vec>, !skim.map<: index>) -> !skim.map<head, q : vec>
  %s = skim.dot %probe, %k visible all : (!skim.map<head, q : vec>, !skim.map<kv_head, k : vec>) -> !skim.map<head, q, k : f32>
  %c = skim.reduce sum %s : !skim.map<head, q, k : f32> -> !skim.map<head, k : f32>
  %best = skim.top_k %c, %n : (!skim.map<head, k : f32>, !skim.map<: index>) -> !skim.set<head, k>
  skim.keep %best : !skim.set<head, k>
}
skim.attend @columns {query_heads = 2, kv_heads = 1, head_dim = 64, value_dim = 64, operand = f32, out = f32}

// -----

// What each row selects for itself stays in the pattern: attention computes it for its rows.
// CHECK-LABEL: skim.pattern @tokens
// CHECK:       skim.top_k
// CHECK-NOT:   tile.launch
skim.pattern @tokens {
  %q = skim.operand Q : !skim.map<head, q : vec>
  %k = skim.operand K : !skim.map<kv_head, k : vec>
  %n = skim.constant 16 : index -> !skim.map<: index>
  %s = skim.dot %q, %k visible all : (!skim.map<head, q : vec>, !skim.map<kv_head, k : vec>) -> !skim.map<head, q, k : f32>
  %best = skim.top_k %s, %n : (!skim.map<head, q, k : f32>, !skim.map<: index>) -> !skim.set<head, q, k>
  skim.keep %best : !skim.set<head, q, k>
}
skim.attend @tokens {query_heads = 2, kv_heads = 1, head_dim = 64, value_dim = 64, operand = f32, out = f32}

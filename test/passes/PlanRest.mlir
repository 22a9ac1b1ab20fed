// RUN: skim-opt --skim-create-plan --skim-choose-schedule --skim-plan-rest --split-input-file %s | FileCheck %s
// RUN: skim-opt --skim-create-plan --skim-choose-schedule=target=sm_90a --skim-plan-rest --split-input-file %s | FileCheck %s --check-prefix=SM90A

// Blocks that hold a kept pair have a closed form.
// CHECK: #[[EXTENTS0:.*]] = affine_map<()[s0, s1, s2] -> (s0, 2, 1, s2 ceildiv 32)>
// CHECK-LABEL: skim.pattern @window
// CHECK:         skim.rest_mean query 64 key 32 {tile.pooled_keys = 0 : i64, tile.pooled_values = 1 : i64}
// CHECK-LABEL: tile.plan @window_plan
// CHECK:         tile.buffer 0 "pooled_keys" : f32 cell 64 extents #[[EXTENTS0]]
// CHECK:         tile.buffer 1 "pooled_values" : f32 cell 16
// CHECK:         tile.launch @pool
// CHECK-NOT:     tile.launch
// CHECK-LABEL: tile.program @pool
// CHECK-SAME:    items = #tile.items<head = kv, axis = keys>
// CHECK-SAME:    schedule = #tile.schedule<rows = 1, keys = 32>
// CHECK:         tile.pool keys of %{{.*}} to buffer 0
// CHECK:         tile.pool values of %{{.*}} to buffer 1
skim.pattern @window {
  %band = skim.affine_set affine_set<(q, k) : (k - q + 99 >= 0)> () : () -> !skim.set<q - k>
  skim.keep %band : !skim.set<q - k>
  skim.rest_mean query 64 key 32
}
skim.attend @window {query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 16, operand = f32, out = f32}

// -----

// Blocks that only the run knows are written as bytes.
// CHECK: #[[EXTENTS0:.*]] = affine_map<()[s0, s1, s2] -> (s0, 4, (s1 + 62) floordiv 64 + 1, s2 ceildiv 32)>
// CHECK-LABEL: skim.pattern @layout
// CHECK:         skim.rest_mean query 64 key 32 {tile.covered = 2 : i64, tile.pooled_keys = 0 : i64, tile.pooled_values = 1 : i64}
// CHECK-LABEL: tile.plan @layout_plan
// CHECK:         tile.buffer 2 "rest_covered" : ui8 cell 1 extents #[[EXTENTS0]] zeroed
// CHECK:         tile.launch @rest_covered
// CHECK-LABEL: tile.program @rest_covered
// CHECK-SAME:    schedule = #tile.schedule<rows = 64, keys = 32>
skim.pattern @layout {
  %x = skim.input "layout" : !skim.map<head, q / 16, k / 16 : bool>
  %s = skim.as_set %x : !skim.map<head, q / 16, k / 16 : bool> -> !skim.set<head, q / 16, k / 16>
  skim.keep %s : !skim.set<head, q / 16, k / 16>
  skim.rest_mean query 64 key 32
}
skim.attend @layout {query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32}

// -----

// Products of sm_90a take means of the operands' type.
// SM90A-LABEL: tile.plan @operands_plan
// SM90A:         tile.buffer 0 "pooled_keys" : bf16 cell 64
// SM90A:         tile.buffer 1 "pooled_values" : bf16 cell 128
// CHECK-LABEL: tile.plan @operands_plan
// CHECK:         tile.buffer 0 "pooled_keys" : f32 cell 64
skim.pattern @operands {
  %band = skim.affine_set affine_set<(q, k) : (k - q + 99 >= 0)> () : () -> !skim.set<q - k>
  skim.keep %band : !skim.set<q - k>
  skim.rest_mean query 64 key 32
}
skim.attend @operands {query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 128, operand = bf16, out = f32}

// RUN: skim-opt %s --split-input-file --skim-plan=target=sm_90a --skim-nvvm-count-visits | FileCheck %s

// What a mask keeps is counted by a program in front of attention: the same intervals and literal, nothing of products or masks.
// CHECK-LABEL: tile.plan @masked_plan
// CHECK: tile.launch @attention_visits
// CHECK-NEXT: tile.launch @attention
// CHECK: tile.program @attention_visits attributes {items = #[[ITEMS:.*]], problem = #{{.*}}, schedule = #[[SCHEDULE:.*]]} {
// CHECK-NEXT: tile.for_each_work_item %[[ITEM:.*]] {
// CHECK: %[[LITERAL:.*]] = tile.literal of %[[ITEM]] cells(128, 128)
// CHECK: tile.for_each_visit %[[VISIT:.*]] of %[[ITEM]] symbols({{.*}}) literals(%[[LITERAL]]) touched [interval<{{.*}}literals = [0]>] hidden [] source #tile.source<tokens> {
// CHECK-NEXT: hopper.count %[[VISIT]]
// CHECK-NEXT: tile.yield
// CHECK-NOT: tile.finish
// CHECK: tile.program @attention attributes {hopper.ordered_by = @attention_visits, items = #[[ITEMS]]
// CHECK-SAME: schedule = #[[SCHEDULE]]

skim.pattern @masked {
  %x = skim.input "layout" : !skim.map<head, q / 128, k / 128 : bool>
  %s = skim.as_set %x : !skim.map<head, q / 128, k / 128 : bool> -> !skim.set<head, q / 128, k / 128>
  skim.keep %s : !skim.set<head, q / 128, k / 128>
}
skim.attend @masked {query_heads = 8, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16}

// -----

// What positions decide is not counted: items come in their order already.
// CHECK-LABEL: tile.plan @window_plan
// CHECK-NOT: hopper.
skim.pattern @window {
  %band = skim.affine_set affine_set<(q, k) : (k - q + 511 >= 0)> () : () -> !skim.set<q - k>
  skim.keep %band : !skim.set<q - k>
}
skim.attend @window {query_heads = 8, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16}

// -----

// Nor where keys are gathered: a count would search them all.
// CHECK-LABEL: tile.plan @columns_plan
// CHECK-NOT: hopper.
skim.pattern @columns {
  %x = skim.input "chosen" : !skim.map<head, k : bool>
  %s = skim.as_set %x : !skim.map<head, k : bool> -> !skim.set<head, k>
  skim.keep %s : !skim.set<head, k>
}
skim.attend @columns {query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = bf16, out = bf16}

// -----

// Nor where a tile has many cells: 4 blocks of rows (2 of them cut) by 8 blocks of keys.
// CHECK-LABEL: tile.plan @fine_plan
// CHECK-NOT: hopper.
skim.pattern @fine {
  %x = skim.input "layout" : !skim.map<head, q / 48, k / 8 : bool>
  %s = skim.as_set %x : !skim.map<head, q / 48, k / 8 : bool> -> !skim.set<head, q / 48, k / 8>
  skim.keep %s : !skim.set<head, q / 48, k / 8>
}
skim.attend @fine {query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = bf16, out = bf16}

// -----

// Of a pattern with means of the rest, the walk over tokens is counted.
// CHECK-LABEL: tile.plan @rest_plan
// CHECK: tile.program @attention_visits
// CHECK: hopper.count
// CHECK-NOT: tile.for_each_visit
// CHECK: tile.program @attention attributes {hopper.ordered_by
skim.pattern @rest {
  %x = skim.input "layout" : !skim.map<head, q / 128, k / 128 : bool>
  %s = skim.as_set %x : !skim.map<head, q / 128, k / 128 : bool> -> !skim.set<head, q / 128, k / 128>
  skim.keep %s : !skim.set<head, q / 128, k / 128>
  skim.rest_mean query 128 key 128
}
skim.attend @rest {query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = bf16, out = bf16}

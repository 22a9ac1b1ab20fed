// RUN: skim-opt %s --skim-cpu-lower-program | FileCheck %s

// A program becomes a loop over items[first] to items[first + count - 1]; what an item consists of is loaded once.

// CHECK-LABEL: func.func @kernel(
// CHECK-SAME: %[[ARGS:.*]]: !llvm.ptr, %[[ITEMS:.*]]: !llvm.ptr, %[[FIRST:.*]]: i64, %[[COUNT:.*]]: i64)
// CHECK-SAME: tile.schedule = #tile.schedule<rows = 64, keys = 64>
// CHECK: %[[COUNTERS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<4xi64>
// CHECK: scf.for
// CHECK: %[[ITEM:.*]] = tile.item_record arguments(%[[ARGS]] : !llvm.ptr)
// CHECK-SAME: statistics(%[[COUNTERS]] : memref<4xi64>)

// Parameters: an entry of the head, as the f64 in memory rounded to f32; and an integer.
// CHECK: %[[WEIGHT:.*]] = arith.truncf %{{.*}} : f64 to f32
// CHECK: arith.index_cast %{{.*}} : i64 to index

// A cell that the item reads itself, and the status that it raises.
// CHECK: llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr -> i8
// CHECK: %[[UNLISTED:.*]] = arith.cmpi ne, %{{.*}} : i8
// CHECK: arith.andi %[[UNLISTED]]
// CHECK: %[[BIT:.*]] = arith.constant 2 : i32
// CHECK: llvm.atomicrmw _or %{{.*}}, %[[BIT]] monotonic

// CHECK: tile.finish %[[ITEM]], %{{.*}} sink(%[[WEIGHT]])

// Counters are stored where the caller asks for them.
// CHECK: scf.if
// CHECK: llvm.store %{{.*}} : i64, !llvm.ptr
// CHECK-NOT: tile.program
// CHECK-NOT: tile.parameter
// CHECK-NOT: tile.uniform
tile.program @kernel attributes {
    problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 32, value_dim = 32, operand = f32, out = f32>,
    schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    %kv_len = tile.uniform kv_len of %item : index
    %window = tile.parameter 1 of %item : index
    %weight = tile.parameter 2 per_head of %item : f32
    %q = tile.load_cell input 0 (head = query) cells (0, 0) at (%kv_len, %kv_len) of %item : i1
    tile.raise_status unlisted_label if %q of %item
    %state = tile.empty_state : !tile.state<64x32>
    tile.finish %item, %state sink(%weight) : !tile.state<64x32>
  }
}

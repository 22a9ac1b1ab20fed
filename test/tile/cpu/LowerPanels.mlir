// RUN: skim-opt %s --skim-cpu-lower-program --skim-cpu-lower-items --skim-cpu-lower-panels=target=x86-64-v3 | FileCheck %s

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 40, value_dim = 40, operand = bf16, out = f32>

// CHECK: func.func private @skim_select_top_p(!llvm.ptr, i64, f64, !llvm.ptr, !llvm.ptr) -> i64
// CHECK-LABEL: func.func @panels
tile.program @panels attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    %x = arith.constant 1.0 : f32
    %n = arith.constant 5 : index
    %mass = arith.constant 0.5 : f64
    // Rows that exist are converted; the others of the block are zero.
    // CHECK: scf.if
    // CHECK: llvm.load %{{.*}} -> vector<8xi16>
    // CHECK: } else {
    // CHECK: llvm.store %{{.*}} : f32, !llvm.ptr
    %queries = tile.load_panel of %item scratch 0 : !tile.panel<rows = 64, query = 1, elements = 40, f32>
    // CHECK: scf.for {{.*}} -> (vector<8xf64>, vector<8xf64>)
    // CHECK: arith.divf
    // CHECK: arith.truncf %{{.*}} : vector<8xf64> to vector<8xf32>
    %s = tile.dot_panel %queries, keys (head = kv) scale %x visible all of %item scratch 1
        : !tile.panel<rows = 64, query = 1, elements = 40, f32> -> !tile.panel<rows = 64, query = 1, key = 1, f32>
    %t = tile.smooth_panel %s, %n of %item scratch 2 : !tile.panel<rows = 64, query = 1, key = 1, f32>
    // One row of scores, the call, and the row's bytes to the panel.
    // CHECK: llvm.store %{{.*}} : f32, !llvm.ptr
    // CHECK: call @skim_select_top_p(
    // CHECK: llvm.load %{{.*}} -> i8
    // CHECK: llvm.store %{{.*}} : i8, !llvm.ptr
    %c = tile.select_panel top_p %mass of %item scratch 3 row 4 : !tile.panel<rows = 64, query = 1, key = 1, i1> where {
    ^bb0(%q: index, %k: index):
      %v = tile.panel_value %t (%q, %k) : !tile.panel<rows = 64, query = 1, key = 1, f32> -> f32
      tile.yield %v : f32
    }
  }
}

// RUN: skim-opt %s --skim-cpu-lower-program --skim-cpu-lower-items --skim-cpu-lower-dot-panel=target=x86-64-v3 | FileCheck %s

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 40, value_dim = 40, operand = f32, out = f32>

// CHECK-LABEL: func.func @scores
// CHECK-SAME: %[[WORKER:[^:]*]]: i64)
// A tile of 48 key vectors, whole blocks of 6.
// CHECK: %[[KEYS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<48x40xf32>
tile.program @scores attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    // CHECK: tile.item_record
    // CHECK: arith.index_cast %[[WORKER]] : i64 to index
    %x = arith.constant 1.0 : f32
    %queries = tile.load_panel of %item scratch 0 : !tile.panel<rows = 64, query = 1, elements = 40, f32>
    // Tiles up to the last column that some row sees.
    // CHECK: scf.for {{.*}} step %c48
    // CHECK: scf.while
    // CHECK: vector.store %{{.*}}, %[[KEYS]]
    // Whole blocks of keys, then one whose stores are guarded.
    // CHECK: scf.for
    // CHECK: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
    // CHECK: vector.fma
    // CHECK-NOT: scf.if
    // CHECK: scf.for {{.*}} -> (vector<8xf32>
    // CHECK: vector.fma
    // CHECK: scf.if
    // Hidden cells near the diagonal, then the columns that no row sees.
    // CHECK: %[[SEEN:.*]] = arith.cmpi sle, %{{.*}} : vector<8xindex>
    // CHECK: arith.select %[[SEEN]]
    // CHECK: scf.for
    // CHECK: llvm.store
    // CHECK-NOT: tile.dot_panel
    %s = tile.dot_panel %queries, keys (head = kv) scale %x visible all of %item scratch 1
        : !tile.panel<rows = 64, query = 1, elements = 40, f32> -> !tile.panel<rows = 64, query = 1, key = 1, f32>
  }
}

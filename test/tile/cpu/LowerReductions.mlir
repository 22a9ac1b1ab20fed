// RUN: skim-opt %s -split-input-file --skim-cpu-lower-program --skim-cpu-lower-items --skim-cpu-lower-reductions=target=x86-64-v3 -canonicalize | FileCheck %s

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 40, value_dim = 40, operand = f32, out = f32>

// One row a lane, sums in registers: nothing goes through the accumulators.
// CHECK-LABEL: func.func @rows
tile.program @rows attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    // CHECK: %[[SUM:.*]]:2 = scf.for {{.*}} -> (vector<8xf64>, vector<8xf64>)
    // CHECK: %[[NONE:.*]] = arith.cmpf oeq, %[[SUM]]#1
    // CHECK: %[[RESULT:.*]] = arith.select %[[NONE]], %{{.*}}, %[[SUM]]#0
    // CHECK: %[[NARROW:.*]] = arith.truncf %[[RESULT]] : vector<8xf64> to vector<8xf32>
    // CHECK: llvm.store %[[NARROW]]
    %p = tile.reduce_panel sum of %item causal scratch 0 accumulators 1 : !tile.panel<rows = 64, query = 1, f32> {
      tile.contribute of %item cells (1, 1) where {
      ^bb0(%q: index, %k: index):
        %x = tile.load_cell input 0 (head = none) cells (1, 1) at (%q, %k) of %item : f32
        tile.yield %x : f32
      }
    }
    // Values of the panel are vectors of rows that lie side by side; the block's rows are added one after the other.
    // CHECK: %[[VALUES:.*]] = llvm.load %{{.*}} -> vector<8xf32>
    // CHECK: vector.reduction <add>, %{{.*}}, %{{.*}} : vector<8xf64> into f64
    // CHECK: arith.truncf %{{.*}} : f64 to f32
    // CHECK-NOT: tile.contribute
    tile.reduce_cells mean of %item to buffer 2 (head = query) cells (64, 0) accumulators 3 {
      tile.contribute of %item cells (1, 0) where {
      ^bb0(%q: index, %k: index):
        %x = tile.panel_value %p (%q, %k) : !tile.panel<rows = 64, query = 1, f32> -> f32
        tile.yield %x : f32
      }
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 40, value_dim = 40, operand = f32, out = f32>

// Heads are joined in memory: cleared, added to, finished. Distances of a key from consecutive rows lie side by side.
// CHECK-LABEL: func.func @distances
tile.program @distances attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = kv, axis = queries>} {
  tile.for_each_work_item %item {
    // CHECK: llvm.store %{{.*}} : vector<8xf64>, !llvm.ptr
    // CHECK: llvm.intr.masked.load
    // CHECK: arith.addf
    // CHECK: llvm.intr.masked.store
    // CHECK: llvm.load %{{.*}} -> vector<8xf64>
    // CHECK: llvm.store %{{.*}} : vector<8xf32>, !llvm.ptr
    tile.reduce_cells sum of %item causal to buffer 2 (head = kv) cells (64, 1) diagonal accumulators 3 {
      tile.for_each_head %head of %item {
        tile.contribute of %head cells (1, 1) where {
        ^bb0(%q: index, %k: index):
          %x = tile.load_cell input 0 (head = query) cells (1, 1) at (%q, %k) of %head : f32
          tile.yield %x : f32
        }
      }
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 40, value_dim = 40, operand = f32, out = f32>

// Elements of a vector are side by side.
// CHECK-LABEL: func.func @vectors
tile.program @vectors attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = kv, axis = keys>} {
  tile.for_each_work_item %item {
    // CHECK: scf.for
    // CHECK: llvm.load %{{.*}} -> vector<8xf32>
    // CHECK: arith.extf %{{.*}} : vector<8xf32> to vector<8xf64>
    tile.reduce_cells mean of %item to buffer 0 (head = kv) cells (0, 64) elements 40 accumulators 1 {
      tile.contribute of %item cells (0, 1) elements 40 where {
      ^bb0(%q: index, %k: index, %i: index):
        %x = tile.load_element keys of %item at (%k, %i) : f32
        tile.yield %x : f32
      }
    }
  }
}

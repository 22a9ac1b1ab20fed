// RUN: skim-opt %s -split-input-file --skim-cpu-lower-program --skim-cpu-lower-visits=target=x86-64-v3 --skim-cpu-lower-cells=target=x86-64-v3 | FileCheck %s

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 40, value_dim = 40, operand = f32, out = f32>

// CHECK-LABEL: func.func @cover
tile.program @cover attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 128>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    tile.for_each_visit %visit of %item touched [interval<lower = affine_map<(t) -> (0)>, upper = affine_map<(t) -> (t + 1)>>] hidden []
        source #tile.source<tokens> {
      // CHECK: scf.for {{.*}} -> (vector<8xi1>)
      // CHECK: vector.reduction <or>, %{{.*}} : vector<8xi1> into i1
      %any = tile.any at %visit where {
      ^bb0(%q: index, %k: index):
        %b = tile.load_cell input 0 (head = none) cells (1, 1) at (%q, %k) of %item : i1
        tile.yield %b : i1
      } : !tile.fragment<1x1xi1>
      // CHECK: scf.if
      // CHECK: llvm.store %{{.*}} {alignment = 1 : i64} : i8, !llvm.ptr
      tile.store_cell %any at %visit to buffer 0 : !tile.fragment<1x1xi1>
      tile.yield
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 40, value_dim = 40, operand = f32, out = f32>

// CHECK-LABEL: func.func @list
tile.program @list attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = kv, axis = queries>} {
  tile.for_each_work_item %item {
    // CHECK: %[[BAD:.*]] = scf.for {{.*}} -> (i1)
    // CHECK: llvm.load %{{.*}} -> i32
    // CHECK: scf.if
    // CHECK: llvm.store %{{.*}} : i8, !llvm.ptr
    // CHECK: arith.andi %[[BAD]]
    // CHECK: llvm.atomicrmw _or
    tile.scatter_list input 0 (head = kv) cells (64, 64) to buffer 2 of %item
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 40, value_dim = 40, operand = f32, out = f32>

// CHECK: func.func private @skim_select_top_p(!llvm.ptr, i64, f64, !llvm.ptr, !llvm.ptr) -> i64
// CHECK: func.func private @skim_select_top_k(!llvm.ptr, i64, f64, !llvm.ptr) -> i64
// CHECK-LABEL: func.func @tokens
tile.program @tokens attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = kv, axis = none>} {
  tile.for_each_work_item %item {
    // CHECK: %[[N:.*]] = arith.constant 6.400000e+01 : f64
    %n = arith.constant 64.0 : f64
    // CHECK: %[[UNDEFINED:.*]] = arith.constant 0x7FC00000 : f32
    // CHECK: scf.for
    // CHECK: arith.select %{{.*}}, %{{.*}}, %[[UNDEFINED]] : f32
    // CHECK: call @skim_select_top_k(%{{.*}}, %{{.*}}, %[[N]], %{{.*}})
    tile.select top_k %n cells (0, 1) scratch 1 to buffer 0 of %item where {
    ^bb0(%q: index, %k: index):
      %x = tile.load_cell input 0 (head = kv) cells (0, 1) at (%q, %k) of %item : f32
      %exists = tile.contains affine_set<(k) : (k - 3 >= 0)>(%k) : i1
      tile.yield %x, %exists : f32, i1
    }
    // CHECK: call @skim_select_top_p
    tile.select top_p %n cells (0, 1) scratch 1 to buffer 2 of %item where {
    ^bb0(%q: index, %k: index):
      %x = tile.load_cell input 0 (head = kv) cells (0, 1) at (%q, %k) of %item : f32
      %true = arith.constant true
      tile.yield %x, %true : f32, i1
    }
    // Distances from 1 - q_len on.
    // CHECK: %[[LEAST:.*]] = arith.subi %c1{{[_0-9]*}}, %{{.*}} : index
    // CHECK-NEXT: %[[COUNT:.*]] = arith.subi %{{.*}}, %[[LEAST]] : index
    // CHECK: scf.for %[[CELL:.*]] = %{{.*}} to %[[COUNT]]
    // CHECK: arith.addi %[[LEAST]], %[[CELL]] : index
    // CHECK: call @skim_select_top_k
    tile.select top_k %n cells (0, 1) diagonal noncausal scratch 1 to buffer 2 of %item where {
    ^bb0(%q: index, %distance: index):
      %d = arith.index_cast %distance : index to i32
      %x = arith.sitofp %d : i32 to f32
      %true = arith.constant true
      tile.yield %x, %true : f32, i1
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 40, value_dim = 40, operand = f32, out = f32>

// CHECK-LABEL: func.func @means
tile.program @means attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 128>, items = #tile.items<head = kv, axis = keys>} {
  tile.for_each_work_item %item {
    // CHECK: scf.while
    // CHECK: arith.extf %{{.*}} : vector<8xf32> to vector<8xf64>
    // CHECK: arith.divf %{{.*}} : vector<8xf64>
    // CHECK: arith.truncf %{{.*}} : vector<8xf64> to vector<8xf32>
    tile.pool keys of %item to buffer 0
  }
}

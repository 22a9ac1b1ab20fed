// RUN: skim-opt %s --skim-cpu-lower-memory=target=x86-64-v3 | FileCheck %s

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 32, value_dim = 20, operand = bf16, out = bf16>

// CHECK-LABEL: func.func @memory
func.func @memory(%args: !llvm.ptr, %counters: memref<4xi64>, %i: index, %masked: i1, %state: !tile.state<64x20>) attributes {
    tile.problem = #problem, tile.schedule = #tile.schedule<rows = 64, keys = 64>, tile.items = #tile.items<head = query, axis = queries>} {
  %item = tile.item_record arguments(%args : !llvm.ptr) request(%i) head(%i) kv_head(%i) layer(%i) tile(%i)
      lengths(%i, %i) rows(%i, %i) of 64 keys(%i, %i) first_token(%i) statistics(%counters : memref<4xi64>)
  %visit = tile.visit_record of %item keys(%i, %i) masked(%masked) source #tile.source<tokens>

  // Queries are stored transposed, 8 x 8 elements at a time in three steps of shuffles; where not all of 8 rows
  // exist, one by one, and those that do not are 0.
  // CHECK: scf.if
  // CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr -> vector<8xi16>
  // CHECK: vector.shuffle %{{.*}} [0, 8, 2, 10, 4, 12, 6, 14] : vector<8xf32>, vector<8xf32>
  // CHECK: vector.shuffle %{{.*}} [1, 9, 3, 11, 5, 13, 7, 15] : vector<8xf32>, vector<8xf32>
  // CHECK: vector.shuffle %{{.*}} [0, 1, 8, 9, 4, 5, 12, 13] : vector<8xf32>, vector<8xf32>
  // CHECK: vector.shuffle %{{.*}} [4, 5, 6, 7, 12, 13, 14, 15] : vector<8xf32>, vector<8xf32>
  // CHECK-COUNT-8: vector.store %{{.*}} : memref<32x72xf32>, vector<8xf32>
  // CHECK: } else {
  // CHECK: scf.if
  // CHECK: arith.shli
  // CHECK: memref.store %{{.*}}[%[[D:.*]], %[[ROW:.*]]] : memref<32x72xf32>
  // CHECK: } else {
  // CHECK: memref.store %{{.*}} : memref<32x72xf32>
  %queries = tile.load_queries %item : !tile.shared<64x32xf32>

  // Runs of tokens in one page, copied in vectors; then the page after.
  // CHECK: scf.while
  // CHECK: scf.if
  // CHECK: arith.divsi
  // CHECK: scf.for
  // CHECK: llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr -> vector<8xi16>
  // CHECK: vector.store %{{.*}} : memref<66x32xf32>, vector<8xf32>
  %keys, %kt = tile.issue_load keys %visit : !tile.shared<64x32xf32>

  // 20 columns: two vectors, four elements, and padding to 24.
  // CHECK: vector.store %{{.*}} : memref<64x24xf32>, vector<8xf32>
  // CHECK: memref.store %{{.*}} : memref<64x24xf32>
  %values, %vt = tile.issue_load values %visit : !tile.shared<64x20xf32>

  // CHECK: arith.divf %{{.*}} : vector<8xf32>
  // CHECK: math.log
  // CHECK: llvm.store %{{.*}} {alignment = 2 : i64} : vector<8xi16>, !llvm.ptr
  // CHECK: llvm.store %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr
  tile.finish %item, %state : !tile.state<64x20>
  return
}

// CHECK-LABEL: func.func @pooled
func.func @pooled(%args: !llvm.ptr, %counters: memref<4xi64>, %i: index, %masked: i1) attributes {
    tile.problem = #problem, tile.schedule = #tile.schedule<rows = 64, keys = 64>, tile.items = #tile.items<head = query, axis = queries>} {
  %item = tile.item_record arguments(%args : !llvm.ptr) request(%i) head(%i) kv_head(%i) layer(%i) tile(%i)
      lengths(%i, %i) rows(%i, %i) of 64 keys(%i, %i) first_token(%i) statistics(%counters : memref<4xi64>)
  %visit = tile.visit_record of %item keys(%i, %i) masked(%masked) source #tile.source<pooled keys = 3, values = 4, block = 16>
  // Means are f32 and lie in one buffer: no block table.
  // CHECK-NOT: scf.while
  // CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
  %keys, %kt = tile.issue_load keys %visit : !tile.shared<64x32xf32>
  return
}

// Positions of the existing keys of cells that hold, and how many: each where the launch asks for it.
// CHECK-LABEL: func.func @positions
// CHECK-SAME:    %[[ARGS:[^:]*]]: !llvm.ptr
func.func @positions(%args: !llvm.ptr, %counters: memref<4xi64>, %i: index, %length: index) attributes {
    tile.problem = #problem, tile.schedule = #tile.schedule<rows = 1, keys = 1>, tile.items = #tile.items<head = kv, axis = none>} {
  %item = tile.item_record arguments(%args : !llvm.ptr) request(%i) head(%i) kv_head(%i) layer(%i) tile(%i)
      lengths(%i, %length) rows(%i, %i) of 0 keys(%i, %i) first_token(%i) statistics(%counters : memref<4xi64>)
  // CHECK-COUNT-2: llvm.icmp "eq" %{{.*}}, %{{.*}} : !llvm.ptr
  // CHECK: %[[CELLS:.*]] = arith.select
  // CHECK: %[[COUNT:.*]] = scf.for %{{.*}} to %[[CELLS]] step %{{.*}} iter_args
  // CHECK:   scf.if
  // CHECK:     scf.for
  // CHECK:       llvm.store %{{.*}} {alignment = 4 : i64} : i32, !llvm.ptr
  // CHECK:   scf.yield
  // CHECK: scf.if
  // CHECK:   %[[N:.*]] = arith.index_cast %[[COUNT]] : index to i32
  // CHECK:   llvm.store %[[N]], %{{.*}} {alignment = 4 : i64} : i32, !llvm.ptr
  tile.store_positions of %item cells 16 where {
  ^bb0(%q: index, %k: index):
    %b = tile.contains affine_set<(q, k) : (k mod 32 - 16 >= 0)>(%q, %k) : i1
    tile.yield %b : i1
  }
  return
}

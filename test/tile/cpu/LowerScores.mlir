// RUN: skim-opt %s --skim-cpu-lower-scores=target=x86-64-v3 | FileCheck %s

// Rows run along the lanes of vectors, keys one by one: what depends on the key alone stays scalar.

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 32, value_dim = 32, operand = f32, out = f32>

// CHECK-LABEL: func.func @scores
// CHECK-SAME: %[[MASKED:[^:]*]]: i1, %[[SCORES:[^:]*]]: !tile.fragment<64x64xf32>
func.func @scores(%args: !llvm.ptr, %counters: memref<4xi64>, %i: index, %masked: i1, %scores: !tile.fragment<64x64xf32>) -> !tile.fragment<64x64xf32> attributes {
    tile.problem = #problem, tile.schedule = #tile.schedule<rows = 64, keys = 64>, tile.items = #tile.items<head = query, axis = queries>} {
  %item = tile.item_record arguments(%args : !llvm.ptr) request(%i) head(%i) kv_head(%i) layer(%i) tile(%i)
      lengths(%i, %i) rows(%i, %i) of 64 keys(%i, %i) first_token(%i) statistics(%counters : memref<4xi64>)
  %visit = tile.visit_record of %item keys(%i, %i) masked(%masked) source #tile.source<tokens>

  // CHECK: %[[TILE:.*]] = builtin.unrealized_conversion_cast %[[SCORES]] : !tile.fragment<64x64xf32> to memref<66x72xf32>
  // CHECK: scf.for
  // Positions beyond the existing rows repeat existing ones.
  // CHECK: %[[ROWS:.*]] = arith.minsi %{{.*}} : vector<8xindex>
  // CHECK: scf.for %[[J:.*]] =
  // CHECK: %[[KEY:.*]] = arith.addi %{{.*}}, %[[J]] : index
  // CHECK: vector.load %[[TILE]][%[[J]], %{{.*}}] : memref<66x72xf32>, vector<8xf32>
  %e = tile.map_scores %scores at %visit : !tile.fragment<64x64xf32> {
  ^bb0(%s: f32, %q: index, %k: index):
    // CHECK: arith.index_cast %[[KEY]] : index to i64
    %wide = arith.index_cast %k : index to i64
    // CHECK: %[[BIAS:.*]] = arith.sitofp %{{.*}} : i64 to f32
    %bias = arith.sitofp %wide : i64 to f32
    // CHECK: %[[BIASES:.*]] = vector.broadcast %[[BIAS]] : f32 to vector<8xf32>
    // CHECK: arith.addf %{{.*}}, %[[BIASES]] : vector<8xf32>
    %x = arith.addf %s, %bias : f32
    tile.yield %x : f32
  }

  // CHECK: scf.if %[[MASKED]] {
  // CHECK: %[[HIDDEN:.*]] = vector.broadcast %{{.*}} : f32 to vector<8xf32>
  %m = tile.mask %e at %visit : !tile.fragment<64x64xf32> where {
  ^bb0(%q: index, %k: index):
    // CHECK: %[[HOLDS:.*]] = arith.cmpi sle, %{{.*}}, %{{.*}} : vector<8xindex>
    // CHECK: %[[KEEP:.*]] = arith.andi %[[HOLDS]], %{{.*}} : vector<8xi1>
    // CHECK: arith.select %[[KEEP]], %{{.*}}, %[[HIDDEN]] : vector<8xi1>, vector<8xf32>
    %a = tile.contains affine_set<(q, k) : (q - k >= 0)>(%q, %k) : i1
    %b = tile.load_cell input 0 (head = query) cells (64, 64) at (%q, %k) of %item : i1
    %keep = arith.andi %a, %b : i1
    tile.yield %keep : i1
  }
  // Pairs are counted, and written where the caller wants the relation.
  // CHECK: scf.if
  // CHECK: llvm.store %{{.*}} : i8, !llvm.ptr
  // CHECK: return %[[SCORES]]
  return %m : !tile.fragment<64x64xf32>
}

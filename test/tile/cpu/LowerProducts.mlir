// RUN: skim-opt %s --skim-cpu-lower-products=target=x86-64-v3 | FileCheck %s --check-prefixes=CHECK,V3
// RUN: skim-opt %s --skim-cpu-lower-products=target=x86-64-v4 | FileCheck %s --check-prefixes=CHECK,V4

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 32, value_dim = 40, operand = f32, out = f32>

// CHECK-LABEL: func.func @products
func.func @products(%args: !llvm.ptr, %counters: memref<4xi64>, %i: index, %masked: i1, %queries: !tile.shared<64x32xf32>) -> !tile.state<64x40> attributes {
    tile.problem = #problem, tile.schedule = #tile.schedule<rows = 64, keys = 64>, tile.items = #tile.items<head = query, axis = queries>} {
  // Scores are padded to blocks of 6 keys.
  // V3: memref.alloca() {alignment = 64 : i64} : memref<66x72xf32>
  // V4: memref.alloca() {alignment = 64 : i64} : memref<66x80xf32>
  %item = tile.item_record arguments(%args : !llvm.ptr) request(%i) head(%i) kv_head(%i) layer(%i) tile(%i)
      lengths(%i, %i) rows(%i, %i) of 64 keys(%i, %i) first_token(%i) statistics(%counters : memref<4xi64>)
  %visit = tile.visit_record of %item keys(%i, %i) masked(%masked) source #tile.source<tokens>
  // Accumulators, rows padded to blocks of 6 and whole vectors and columns to whole vectors, then maxima, sums and
  // scales: 72 * 40 + 3 * 72, or 80 * 48 + 3 * 80.
  // V3: %[[STATE:.*]] = builtin.unrealized_conversion_cast %{{.*}} : memref<3096xf32> to !tile.state<64x40>
  // V4: %[[STATE:.*]] = builtin.unrealized_conversion_cast %{{.*}} : memref<4080xf32> to !tile.state<64x40>
  %state = tile.empty_state : !tile.state<64x40>
  %keys, %kt = tile.issue_load keys %visit : !tile.shared<64x32xf32>

  // The product keeps 6 x 2 vectors in registers over the head dimension.
  // V3: scf.for {{.*}} iter_args({{.*}}) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>) {
  // V4: scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) {
  // CHECK: vector.fma
  %d, %dt = tile.issue_dot %queries, %keys after %kt : !tile.shared<64x32xf32>, !tile.shared<64x32xf32> -> !tile.fragment<64x64xf32>

  // Maxima, then probabilities and sums, on vectors of rows.
  // CHECK: arith.cmpf ogt
  // CHECK: arith.cmpf oeq
  // CHECK: math.exp
  %p, %s1 = tile.online_softmax %d, %state after %dt : !tile.fragment<64x64xf32>, !tile.state<64x40>
  %values, %vt = tile.issue_load values %visit : !tile.shared<64x40xf32>

  // Whole blocks of two vectors of columns, and one vector that is left.
  // CHECK: vector.fma
  // CHECK: vector.fma
  %s2 = tile.accumulate %p, %values, %s1 after %vt : !tile.fragment<64x64xf32>, !tile.shared<64x40xf32>, !tile.state<64x40>
  // CHECK: return %[[STATE]]
  return %s2 : !tile.state<64x40>
}

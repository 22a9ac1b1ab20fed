// RUN: skim-opt %s --skim-cpu-expand-math=target=x86-64-v3 | FileCheck %s --check-prefixes=CHECK,FUSED
// RUN: skim-opt %s --skim-cpu-expand-math=target=x86-64-v2 | FileCheck %s --check-prefixes=CHECK,SPLIT

// CHECK-LABEL: func.func @functions
func.func @functions(%x: vector<8xf32>, %y: f32) -> (vector<8xf32>, vector<8xf32>, f32) {
  // CHECK-NOT: math.exp
  // CHECK-NOT: math.log
  // CHECK-NOT: math.tanh
  // FUSED: math.fma
  // SPLIT-NOT: math.fma
  %a = math.exp %x : vector<8xf32>
  %b = math.log %x : vector<8xf32>
  %c = math.tanh %y : f32
  // CHECK: return
  return %a, %b, %c : vector<8xf32>, vector<8xf32>, f32
}

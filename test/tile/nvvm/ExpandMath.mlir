// RUN: skim-opt %s --skim-nvvm-expand-math | FileCheck %s

// CHECK-LABEL: llvm.func @functions
// CHECK: math.exp2
// CHECK: llvm.nvvm.lg2.approx.ftz.f
// CHECK: math.absf
// CHECK: math.exp2
// CHECK: arith.divf
// CHECK: math.copysign
// CHECK-NOT: math.exp %
// CHECK-NOT: math.log %
// CHECK-NOT: math.tanh %
llvm.func @functions(%x: f32) -> f32 {
  %a = math.exp %x : f32
  %b = math.log %a : f32
  %c = math.tanh %b : f32
  llvm.return %c : f32
}

// CHECK-LABEL: llvm.func @of_f64
// CHECK: arith.shli
// CHECK: arith.shrui
// CHECK: math.absf
// CHECK: arith.shli
// CHECK: math.copysign
// CHECK-NOT: math.exp
// CHECK-NOT: math.log
// CHECK-NOT: math.tanh
llvm.func @of_f64(%x: f64) -> f64 {
  %a = math.exp %x : f64
  %b = math.log %a : f64
  %c = math.tanh %b : f64
  llvm.return %c : f64
}

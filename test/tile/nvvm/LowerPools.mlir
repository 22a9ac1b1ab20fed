// RUN: skim-opt %s --skim-nvvm-lower-pools --split-input-file --verify-diagnostics | FileCheck %s

// Warp i of n takes the items i, i + n, ..., whose head is the first query head of two; a lane loads pairs of columns, sums them in f64 and stores means of the operands' type.
// CHECK: llvm.func @pool(
// CHECK-SAME: nvvm.kernel
// CHECK-SAME: nvvm.reqntid = array<i32: 128>
// CHECK-COUNT-6: llvm.alloca %{{.*}} x f64
// CHECK: scf.for
// CHECK: %[[ONE:.*]] = arith.constant 1 : index
// CHECK-NEXT: arith.shrsi %{{.*}}, %[[ONE]] : index
// CHECK-COUNT-4: llvm.store %[[ZERO:.*]], %{{.*}} : f64, !llvm.ptr
// CHECK: scf.while
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> vector<2xbf16>
// CHECK: arith.extf %{{.*}} : f32 to f64
// CHECK: arith.addf %{{.*}} : f64
// CHECK: arith.divf %{{.*}} : f64
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK: llvm.store %{{.*}} : vector<2xbf16>, !llvm.ptr
// CHECK-NOT: tile.
#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 128, value_dim = 64, operand = bf16, out = bf16>
tile.program @pool attributes {problem = #problem, schedule = #tile.schedule<rows = 1, keys = 64>, items = #tile.items<head = kv, axis = keys>} {
  tile.for_each_work_item %item {
    tile.pool keys of %item to buffer 0
    tile.pool values of %item to buffer 1
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 128, value_dim = 64, operand = bf16, out = bf16>
tile.program @pool attributes {problem = #problem, schedule = #tile.schedule<rows = 1, keys = 64>, items = #tile.items<head = kv, axis = keys>} {
  tile.for_each_work_item %item {
    tile.pool keys of %item to buffer 0
    // expected-error @below {{sm_90a: cannot stand beside 'tile.pool'}}
    %length = tile.uniform kv_len of %item : index
  }
}

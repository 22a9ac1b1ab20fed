// RUN: skim-opt %s --skim-nvvm-wrap-programs --split-input-file --verify-diagnostics | FileCheck %s

// Thread i of n runs the items i, i + n, i + 2n, ...
// CHECK: llvm.func @cover(%[[ARGUMENTS:[^:]*]]: !llvm.ptr, %[[ITEMS:[^:]*]]: !llvm.ptr,
// CHECK-SAME: nvvm.kernel
// CHECK-SAME: nvvm.reqntid = array<i32: 128>
// CHECK: nvvm.read.ptx.sreg.ctaid.x
// CHECK: nvvm.read.ptx.sreg.nctaid.x
// CHECK: scf.for
// CHECK: func.call @cover_items(%[[ARGUMENTS]], %[[ITEMS]],
// CHECK: func.func private @cover_items
func.func @cover(%arguments: !llvm.ptr, %items: !llvm.ptr, %first: i64, %count: i64, %worker: i64) {
  return
}

// -----

// expected-error @below {{sm_90a: 'skim_select_top_k' of the runtime library cannot be called on a GPU}}
func.func private @skim_select_top_k(!llvm.ptr, i64, f64, !llvm.ptr) -> i64

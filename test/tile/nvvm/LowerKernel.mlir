// RUN: skim-opt %s --skim-plan=target=sm_90a --skim-nvvm-split-roles --skim-nvvm-pipeline-products --skim-nvvm-lower-kernel | FileCheck %s

// CHECK: llvm.mlir.global external @skim_shared() {addr_space = 3 : i32, alignment = 1024 : i64}
// CHECK: llvm.func @attention(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr,
// CHECK-SAME: %{{.*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}
// CHECK-SAME: nvvm.kernel
// CHECK-SAME: nvvm.reqntid = array<i32: 512>
// CHECK: nvvm.mbarrier.init
// CHECK: nvvm.fence.mbarrier.init
// CHECK: nvvm.barrier0
// Four warps produce with few registers; the rest take theirs.
// CHECK: nvvm.setmaxregister decrease 56
// CHECK: llvm.atomicrmw add
// CHECK: tile.for_each_visit
// CHECK: hopper.copy_queries
// CHECK: nvvm.setmaxregister increase 152
// CHECK: hopper.await_queries
// CHECK: llvm.return

skim.pattern @window(%window: !skim.map<: index> {skim.name = "window", skim.default = 512 : index}) {
  %band = skim.affine_set affine_set<(q, k)[s0] : (k - q + s0 - 1 >= 0)> (%window) : (!skim.map<: index>) -> !skim.set<q - k>
  skim.keep %band : !skim.set<q - k>
}
skim.attend @window {query_heads = 8, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16}

// RUN: skim-opt %s --split-input-file --skim-plan=target=sm_90a --skim-nvvm-count-visits --skim-nvvm-split-roles --skim-nvvm-lower-visit-counts | FileCheck %s

// A warp takes an item, a lane a tile; the lanes' sum becomes the last word of the item.
// CHECK-LABEL: llvm.func @attention_visits(
// CHECK-SAME: nvvm.kernel
// CHECK: %[[FOUND:.*]] = llvm.alloca %{{.*}} x i32
// CHECK: scf.for
// CHECK: llvm.store %{{.*}}, %[[FOUND]]
// CHECK: scf.while
// CHECK: %[[STEP:.*]] = arith.constant 32 : index
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %[[STEP]]
// CHECK: llvm.load %{{.*}} -> i8
// CHECK: llvm.store %{{.*}}, %[[FOUND]]
// CHECK-COUNT-5: nvvm.shfl.sync bfly
// CHECK: %[[SUM:.*]] = arith.addi
// CHECK: llvm.getelementptr %{{.*}}[12]
// CHECK: llvm.store %[[SUM]]
// CHECK-NOT: tile.for_each_visit
// CHECK-NOT: hopper.count
// CHECK-LABEL: hopper.kernel @attention
// CHECK-NOT: hopper.count
skim.pattern @masked {
  %x = skim.input "layout" : !skim.map<head, q / 128, k / 128 : bool>
  %s = skim.as_set %x : !skim.map<head, q / 128, k / 128 : bool> -> !skim.set<head, q / 128, k / 128>
  skim.keep %s : !skim.set<head, q / 128, k / 128>
}
skim.attend @masked {query_heads = 8, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16}

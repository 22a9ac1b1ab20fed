// RUN: skim-opt %s --skim-plan=target=sm_90a --skim-nvvm-split-roles | FileCheck %s --check-prefix=ROLES
// RUN: skim-opt %s --skim-plan=target=sm_90a --skim-nvvm-split-roles --skim-nvvm-pipeline-products --skim-nvvm-lower-kernel --skim-nvvm-lower-scheduler --skim-nvvm-lower-copies --skim-nvvm-lower-fragments | FileCheck %s

// Heads that a pattern treats alike share a tile: 48 positions of four heads are 192 rows.
// ROLES: hopper.kernel @attention attributes {
// ROLES-SAME: items = #tile.items<head = kv, axis = queries>
// ROLES-SAME: schedule = #tile.schedule<rows = 48, keys = 64, stages = 2, consumers = 3, producer_registers = 56, consumer_registers = 152>
// ROLES: hopper.await_queries %{{.*}} : !tile.shared<192x128xbf16, swizzle = 128>
// ROLES: hopper.await keys number %{{.*}} : !tile.shared<64x128xbf16, swizzle = 128, stages = 2>

// An item's head is the first of its group.
// CHECK: arith.muli %{{.*}}, %c4_i32{{[_0-9]*}} : i32
// A thread's row is a position of one of the heads.
// CHECK: %[[HEAD:.*]] = arith.divui %[[ROW:.*]], [[ROWS:%c48_i32[_0-9]*]] : i32
// CHECK: %[[BEFORE:.*]] = arith.muli %[[HEAD]], [[ROWS]] : i32
// CHECK: arith.subi %[[ROW]], %[[BEFORE]] : i32

skim.pattern @window(%window: !skim.map<: index> {skim.name = "window", skim.default = 512 : index}) {
  %band = skim.affine_set affine_set<(q, k)[s0] : (k - q + s0 - 1 >= 0)> (%window) : (!skim.map<: index>) -> !skim.set<q - k>
  skim.keep %band : !skim.set<q - k>
}
skim.attend @window {query_heads = 8, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16}

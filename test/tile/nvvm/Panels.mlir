// RUN: skim-opt %s --skim-plan=target=sm_90a --skim-nvvm-split-roles | FileCheck %s --check-prefix=ROLES
// RUN: skim-opt %s --skim-plan=target=sm_90a --skim-nvvm-split-roles --skim-nvvm-pipeline-products --skim-nvvm-lower-kernel --skim-nvvm-lower-scheduler --skim-nvvm-lower-copies --skim-nvvm-lower-fragments | FileCheck %s
// RUN: skim-opt %s --skim-plan=target=sm_90a --skim-nvvm-split-roles | sed 's/192x96xbf16, swizzle = 64/192x96xbf16, swizzle = 128/' > %t.mlir
// RUN: not skim-opt %t.mlir 2>&1 | FileCheck %s --check-prefix=WRONG

// Where 64 does not divide a dimension, its panels have 32 columns; each operand has its own.
// ROLES: hopper.await_queries %{{.*}} : !tile.shared<192x96xbf16, swizzle = 64>
// ROLES: hopper.await keys number %{{.*}} : !tile.shared<64x96xbf16, swizzle = 64, stages = 2>
// ROLES: hopper.await values number %{{.*}} : !tile.shared<64x64xbf16, swizzle = 128, stages = 2>

// WRONG: error: 'hopper.await_queries' op expected a tile of type '!tile.shared<192x96xbf16, swizzle = 64>' but got '!tile.shared<192x96xbf16, swizzle = 128>'

// Eight rows of such a panel are 512 bytes: (1 << 16) + (512 / 16 << 32) + (2 << 62).
// CHECK: %[[LEFT:.*]] = arith.constant -9223371899415756800 : i64
// CHECK: arith.ori %{{.*}}, %[[LEFT]] : i64
// Half of a panel on: 32 bytes. A panel of 192 rows on: 12288 bytes; of 64 keys: 4096 bytes.
// CHECK: %[[WITHIN:.*]] = arith.constant 2 : i64
// CHECK: arith.addi %{{.*}}, %[[WITHIN]] : i64
// CHECK: wgmma.mma_async.sync.aligned.m64n64k16
// CHECK: %[[PANEL:.*]] = arith.constant 768 : i64
// CHECK: arith.addi %{{.*}}, %[[PANEL]] : i64
// CHECK: %[[KEYS:.*]] = arith.constant 256 : i64
// CHECK: arith.addi %{{.*}}, %[[KEYS]] : i64
// Values of 64 columns: eight keys are 1024 bytes.
// CHECK: arith.constant 4611686293338849280 : i64

skim.pattern @window(%window: !skim.map<: index> {skim.name = "window", skim.default = 512 : index}) {
  %band = skim.affine_set affine_set<(q, k)[s0] : (k - q + s0 - 1 >= 0)> (%window) : (!skim.map<: index>) -> !skim.set<q - k>
  skim.keep %band : !skim.set<q - k>
}
skim.attend @window {query_heads = 8, kv_heads = 2, head_dim = 96, value_dim = 64, operand = bf16, out = bf16}

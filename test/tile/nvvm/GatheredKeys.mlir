// RUN: skim-opt %s --skim-plan=target=sm_90a --skim-nvvm-split-roles | FileCheck %s --check-prefix=ROLES
// RUN: skim-opt %s --skim-plan=target=sm_90a --skim-nvvm-split-roles --skim-nvvm-pipeline-products --skim-nvvm-lower-kernel --skim-nvvm-lower-scheduler --skim-nvvm-lower-copies | FileCheck %s

// A selection that tells the keys of a tile apart, for all rows alike: their kept keys are listed.
// ROLES: hopper.kernel @attention attributes {
// ROLES-SAME: gathers

// The scheduler makes a word of thirty-two bytes, four at a time, and lists the kept keys.
// CHECK: llvm.func @attention({{.*}}hopper.gathers
// CHECK: %[[MULTIPLIER:.*]] = arith.constant 270549120 : i32
// CHECK: arith.muli %{{.*}}, %[[MULTIPLIER]] : i32
// CHECK: math.cttz
// CHECK: nvvm.vote.sync ballot
// The loaders copy listed keys row by row, sixteen bytes a lane, and arrive when these are there.
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg, %{{.*}}
// CHECK: nvvm.cp.async.mbarrier.arrive
// The consumers make what they wrote readable for the tensor cores.
// CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>

skim.pattern @columns() {
  %chosen = skim.input "chosen" : !skim.map<kv_head, k : bool>
  %columns = skim.as_set %chosen : !skim.map<kv_head, k : bool> -> !skim.set<kv_head, k>
  skim.keep %columns : !skim.set<kv_head, k>
}
skim.attend @columns {query_heads = 8, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16}

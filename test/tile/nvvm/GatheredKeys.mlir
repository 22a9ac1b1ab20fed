// RUN: skim-opt %s --skim-plan=target=sm_90a --skim-nvvm-split-roles | FileCheck %s --check-prefix=ROLES
// RUN: skim-opt %s --skim-plan=target=sm_90a --skim-nvvm-split-roles --skim-nvvm-pipeline-products | FileCheck %s --check-prefix=PIPELINE
// RUN: skim-opt %s --skim-plan=target=sm_90a --skim-nvvm-split-roles --skim-nvvm-pipeline-products --skim-nvvm-lower-kernel --skim-nvvm-lower-scheduler --skim-nvvm-lower-copies | FileCheck %s

// A selection that tells the keys of a tile apart, for all rows alike: their kept keys are listed.
// ROLES: hopper.kernel @attention attributes {
// ROLES-SAME: gather_keys = true
// ROLES: tile.for_each_visit %[[VISIT:.*]] of
// ROLES: hopper.publish_keys %[[VISIT]]
// PIPELINE: %{{.*}}, %[[FIRST:.*]], %[[COUNT:.*]], %[[MASKED:.*]], %{{.*}}, %{{.*}}, %[[POSITIONS:.*]] = hopper.next_visit of %[[ITEM:.*]] listed i32
// PIPELINE: tile.visit_record of %[[ITEM]] keys(%[[FIRST]], %[[COUNT]]) listed(%[[POSITIONS]]) masked(%[[MASKED]])

// The scheduler makes bits of the bytes of 128 keys a lane, which it copied two steps before, copies others, and lists the kept keys in ascending order.
// CHECK: llvm.func @attention({{.*}}gather_keys = true
// CHECK: nvvm.cp.async.wait.group 1
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
// CHECK: nvvm.dot.accumulate.4way
// CHECK: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.shfl.sync up
// CHECK: llvm.intr.cttz
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

// RUN: skim-opt %s --split-input-file --skim-plan=target=sm_90a --skim-nvvm-bound-scores | FileCheck %s --check-prefix=PLAN
// RUN: skim-opt %s --split-input-file --skim-plan=target=sm_90a --skim-nvvm-bound-scores --skim-nvvm-split-roles --skim-nvvm-pipeline-products | FileCheck %s --check-prefix=ROLES
// RUN: skim-opt %s --split-input-file --skim-plan=target=sm_90a --skim-nvvm-bound-scores --skim-nvvm-split-roles --skim-nvvm-pipeline-products --skim-nvvm-lower-kernel --skim-nvvm-lower-scheduler --skim-nvvm-lower-copies --skim-nvvm-lower-fragments | FileCheck %s --check-prefix=CODE

// The runtime fills one norm for each request and KV head, and the softmax compares it with those of the queries.
// PLAN: #[[EXTENTS:.*]] = affine_map<()[s0, s1, s2] -> (s0, 2, 1, 1)>
// PLAN-LABEL: tile.plan @causal_plan
// PLAN: tile.buffer 0 "key_norms" : f32 cell 1 extents #[[EXTENTS]] zeroed
// PLAN: tile.program @attention
// PLAN-SAME: hopper.key_norms = 0
// ROLES-LABEL: hopper.kernel @attention
// ROLES-SAME: key_norms = 0
// ROLES: %[[QUERIES:.*]] = hopper.await_queries
// ROLES: hopper.online_softmax {{.*}} bounded by %[[QUERIES]] : {{.*}} {first}
// ROLES: hopper.online_softmax {{.*}} bounded by %[[QUERIES]]
// Sums of squares of queries, and a vote of the warp.
// CODE-LABEL: llvm.func @attention
// CODE: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
// CODE: nvvm.vote.sync any
// In the loop maxima stand behind the branch alone.
// CODE: scf.while
// CODE: wgmma.wait_group.sync.aligned 1;
// CODE-NOT: arith.maxnumf
// CODE: scf.if
// CODE-NOT: arith.maxnumf
// CODE: } else {
// CODE: arith.maxnumf

skim.pattern @causal() {
  %all = skim.affine_set affine_set<(q, k) : (q - k >= 0)> () : () -> !skim.set<q - k>
  skim.keep %all : !skim.set<q - k>
}
skim.attend @causal {query_heads = 8, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16}

// -----

// Weights of f16 hold too little for a bound to be of use.
// PLAN-LABEL: tile.plan @half_plan
// PLAN-NOT: key_norms
// ROLES-LABEL: hopper.kernel @attention
// ROLES-NOT: bounded by
// CODE-LABEL: llvm.func @attention

skim.pattern @half() {
  %all = skim.affine_set affine_set<(q, k) : (q - k >= 0)> () : () -> !skim.set<q - k>
  skim.keep %all : !skim.set<q - k>
}
skim.attend @half {query_heads = 8, kv_heads = 2, head_dim = 128, value_dim = 128, operand = f16, out = f16}

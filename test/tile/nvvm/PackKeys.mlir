// RUN: skim-opt %s --split-input-file --skim-plan=target=sm_90a --skim-nvvm-pack-keys | FileCheck %s --check-prefix=PLAN
// RUN: skim-opt %s --split-input-file --skim-plan=target=sm_90a --skim-nvvm-pack-keys --skim-nvvm-split-roles --skim-nvvm-pipeline-products --skim-nvvm-lower-kernel --skim-nvvm-lower-scheduler | FileCheck %s --check-prefix=CODE

// A bit for each key of each KV head, 128 keys in 16 bytes, named on the load of the condition.
// PLAN: #[[EXTENTS:.*]] = affine_map<()[s0, s1, s2] -> (s0, 2, 1, s2 ceildiv 128)>
// PLAN-LABEL: tile.plan @columns_plan
// PLAN: tile.buffer 0 "packed_keys" : ui8 cell 16 extents #[[EXTENTS]]
// PLAN: tile.program @attention
// PLAN: tile.literal
// PLAN: tile.load_cell input 0(head = kv) {{.*}}hopper.packed_keys = 0
// The scheduler loads the bits of the next step, has no bytes to copy or pack, and stores keys of every word at once.
// CODE-LABEL: llvm.func @attention
// CODE: scf.for {{.*}} iter_args(%[[BITS:.*]] = %{{.*}}) -> (vector<2xi64>)
// CODE: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<2xi64>
// CODE: llvm.extractelement %[[BITS]]
// CODE-NOT: nvvm.cp.async.shared.global
// CODE-NOT: nvvm.dot.accumulate.4way
// CODE: nvvm.shfl.sync up
// CODE: nvvm.vote.sync any
// CODE: llvm.intr.cttz
// CODE: "@$0 st.shared.b32 [$1], $2;"
// CODE: llvm.intr.cttz
// CODE: "@$0 st.shared.b32 [$1], $2;"
// CODE: llvm.intr.cttz
// CODE: "@$0 st.shared.b32 [$1], $2;"
// CODE: llvm.intr.cttz
// CODE: "@$0 st.shared.b32 [$1], $2;"
// CODE: nvvm.vote.sync any

skim.pattern @columns() {
  %chosen = skim.input "chosen" : !skim.map<kv_head, k : bool>
  %columns = skim.as_set %chosen : !skim.map<kv_head, k : bool> -> !skim.set<kv_head, k>
  skim.keep %columns : !skim.set<kv_head, k>
}
skim.attend @columns {query_heads = 8, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16}

// -----

// Nothing is gathered: there is no search.
// PLAN-LABEL: tile.plan @causal_plan
// PLAN-NOT: packed_keys
// CODE-LABEL: llvm.func @attention

skim.pattern @causal() {
  %all = skim.affine_set affine_set<(q, k) : (q - k >= 0)> () : () -> !skim.set<q - k>
  skim.keep %all : !skim.set<q - k>
}
skim.attend @causal {query_heads = 8, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16}

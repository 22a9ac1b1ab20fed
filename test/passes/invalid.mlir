// RUN: not skim-opt %s --skim-choose-schedule --skim-plan-selections 2>&1 | FileCheck %s --check-prefix=PLAN
// RUN: not skim-opt %s --skim-create-plan --skim-plan-selections 2>&1 | FileCheck %s --check-prefix=SCHEDULE
// RUN: not skim-opt %s --skim-create-plan --skim-plan-rest 2>&1 | FileCheck %s --check-prefix=SCHEDULE
// RUN: not skim-opt %s --skim-create-plan --skim-plan-attention 2>&1 | FileCheck %s --check-prefix=SCHEDULE

skim.pattern @all {
  %all = skim.affine_set affine_set<(q, k) : (0 == 0)> () : () -> !skim.set<>
  skim.keep %all : !skim.set<>
}
// PLAN: error: expected a 'tile.plan' for 'all'; 'skim-create-plan' makes it
// SCHEDULE: error: expected a 'tile.schedule' of 'all'; 'skim-choose-schedule' writes it
skim.attend @all {query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32}

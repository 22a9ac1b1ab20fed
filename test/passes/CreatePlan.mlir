// RUN: skim-opt --skim-create-plan --split-input-file --verify-diagnostics %s | FileCheck %s

// A selector without default admits its labels only; a list takes two slots.
// CHECK-LABEL: tile.plan @mixed_plan attributes {noncausal, page_size = 16 : i64, pattern = "mixed", problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 32, operand = bf16, out = f32>, writes_kept}
// CHECK-NEXT:  tile.plan_parameter 0 "kind" per_head : index allowed [0, 1]
// CHECK-NEXT:  tile.plan_parameter 1 "weight" : f32 default [2.500000e-01]
// CHECK-NEXT:  tile.plan_parameter 2 "flag" : i1 default [1.000000e+00]
// CHECK-NEXT:  tile.plan_input 0 "layout" : bool(head = query) cells(128, 128)
// CHECK-NEXT:  tile.plan_input 1 "blocks" : list(head = kv) cells(64, 64)
// CHECK-NEXT:  tile.plan_input 2 "blocks_counts" : list_counts(head = kv) cells(64, 0)
// CHECK-NEXT:  tile.plan_input 3 "start" : index(head = none) cells(1, 0)
// CHECK-NEXT:  }
skim.pattern @mixed(%kind: !skim.map<head : index> {skim.name = "kind"}, %weight: !skim.map<: f32> {skim.name = "weight", skim.default = 0.25 : f32}, %flag: !skim.map<: bool> {skim.name = "flag", skim.default = true}) attributes {noncausal} {
  %x = skim.input "layout" : !skim.map<head, q / 128, k / 128 : bool>
  %layout = skim.as_set %x : !skim.map<head, q / 128, k / 128 : bool> -> !skim.set<head, q / 128, k / 128>
  %listed = skim.input_list "blocks" : !skim.set<kv_head, q / 64, k / 64>
  %start = skim.input "start" : !skim.map<q : index>
  %again = skim.input "layout" : !skim.map<head, q / 128, k / 128 : bool>
  %chosen = skim.match %kind [0, 1] (%layout, %listed) : (!skim.map<head : index>, !skim.set<head, q / 128, k / 128>, !skim.set<kv_head, q / 64, k / 64>) -> !skim.set<head, q / 64, k / 64>
  skim.keep %chosen : !skim.set<head, q / 64, k / 64>
}
skim.attend @mixed {query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 32, operand = bf16, out = f32, page_size = 16, writes_kept}

// -----

// The share of a top_p and the threshold of a skip are checked at launch where they are parameters, as either type;
// what is computed from them is not, nor is the count of a top_k.
// CHECK-LABEL: tile.plan @bounded_plan
// CHECK-NEXT:  tile.plan_parameter 0 "mass" : f32 default [1.500000e+00] least 0.000000e+00 most 1.000000e+00
// CHECK-NEXT:  tile.plan_parameter 1 "nats" : index least 0.000000e+00
// CHECK-NEXT:  tile.plan_parameter 2 "half" : f32{{$}}
// CHECK-NEXT:  tile.plan_parameter 3 "count" : f32{{$}}
skim.pattern @bounded(%mass: !skim.map<: f32> {skim.name = "mass", skim.default = 1.5 : f32}, %nats: !skim.map<: index> {skim.name = "nats"}, %half: !skim.map<: f32> {skim.name = "half"}, %count: !skim.map<: f32> {skim.name = "count"}) {
  %x = skim.input "x" : !skim.map<k : f32>
  %a = skim.top_p %x, %mass : (!skim.map<k : f32>, !skim.map<: f32>) -> !skim.set<k>
  %twice = skim.add %half, %half : (!skim.map<: f32>, !skim.map<: f32>) -> !skim.map<: f32>
  %b = skim.top_p %x, %twice : (!skim.map<k : f32>, !skim.map<: f32>) -> !skim.set<k>
  %c = skim.top_k %x, %count : (!skim.map<k : f32>, !skim.map<: f32>) -> !skim.set<k>
  %all = skim.or %a, %b, %c : (!skim.set<k>, !skim.set<k>, !skim.set<k>) -> !skim.set<k>
  skim.keep %all : !skim.set<k>
  %threshold = skim.convert %nats : !skim.map<: index> -> !skim.map<: f32>
  skim.skip %threshold : !skim.map<: f32>
}
skim.attend @bounded {query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32}

// -----

// CHECK-LABEL: tile.plan @layered_plan
// CHECK-SAME:  allowed_layers = array<i64: 3>
skim.pattern @layered {
  %layer = skim.uniform layer : !skim.map<: index>
  %all = skim.affine_set affine_set<(q, k) : (0 == 0)> () : () -> !skim.set<>
  %a = skim.match %layer [0, 3] (%all, %all) : (!skim.map<: index>, !skim.set<>, !skim.set<>) -> !skim.set<>
  %b = skim.match %layer [3, 4] (%a, %all) : (!skim.map<: index>, !skim.set<>, !skim.set<>) -> !skim.set<>
  skim.keep %b : !skim.set<>
}
skim.attend @layered {query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32}

// -----

skim.pattern @heads {
  %head = skim.uniform head : !skim.map<head : index>
  %all = skim.affine_set affine_set<(q, k) : (0 == 0)> () : () -> !skim.set<>
  // expected-error @+1 {{expected an arm for each of the 4 heads or a '_' arm, but got none for 1}}
  %a = skim.match %head [0, 3] (%all, %all) : (!skim.map<head : index>, !skim.set<>, !skim.set<>) -> !skim.set<head>
  skim.keep %a : !skim.set<head>
}
skim.attend @heads {query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32}

// -----

skim.pattern @twice {
  %all = skim.affine_set affine_set<(q, k) : (0 == 0)> () : () -> !skim.set<>
  skim.keep %all : !skim.set<>
}
skim.attend @twice {query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32}
// expected-error @+1 {{expected one 'skim.attend' of 'twice' but got a second}}
skim.attend @twice {query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32}

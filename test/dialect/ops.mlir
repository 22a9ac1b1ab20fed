// Every operation survives printing and parsing, in its own form and in the generic one.
// RUN: skim-opt %s | skim-opt | FileCheck %s
// RUN: skim-opt -mlir-print-op-generic %s | skim-opt | FileCheck %s

// CHECK: [[$BAND:#.*]] = affine_set<(d0, d1)[s0] : (d1 - d0 + s0 - 1 >= 0)>

// CHECK-LABEL: skim.pattern @parameters(
// CHECK-SAME: %count: !skim.map<: index> {skim.default = 64 : index, skim.name = "count"}
// CHECK-SAME: %flag: !skim.map<: bool> {skim.default = true, skim.name = "flag"}
// CHECK-SAME: %slope: !skim.map<head : f32> {skim.name = "slope"}) attributes {noncausal} {
skim.pattern @parameters(%a: !skim.map<: index> {skim.name = "count", skim.default = 64 : index},
                         %b: !skim.map<: bool> {skim.name = "flag", skim.default = true},
                         %c: !skim.map<head : f32> {skim.name = "slope"}) attributes {noncausal} {
  // CHECK: %[[FLAG:.*]] = skim.as_set %flag : !skim.map<: bool> -> !skim.set<>
  %flag = skim.as_set %b : !skim.map<: bool> -> !skim.set<>
  // CHECK: skim.keep %[[FLAG]] : !skim.set<>
  skim.keep %flag : !skim.set<>
  // CHECK-NOT: skim.end
  skim.end
}

// CHECK-LABEL: skim.pattern @values(
skim.pattern @values(%count: !skim.map<: index> {skim.name = "count"}) {
  // CHECK: skim.constant 64 : index -> !skim.map<: index>
  %0 = skim.constant 64 : index -> !skim.map<: index>
  // CHECK: skim.constant 5.000000e-01 : f32 -> !skim.map<: f32>
  %1 = skim.constant 5.000000e-01 : f32 -> !skim.map<: f32>
  // CHECK: skim.constant false -> !skim.map<: bool>
  %2 = skim.constant false -> !skim.map<: bool>
  // CHECK: skim.uniform q_len : !skim.map<: index>
  %3 = skim.uniform q_len : !skim.map<: index>
  // CHECK: skim.uniform kv_len : !skim.map<: index>
  %4 = skim.uniform kv_len : !skim.map<: index>
  // CHECK: skim.uniform layer : !skim.map<: index>
  %5 = skim.uniform layer : !skim.map<: index>
  // CHECK: skim.uniform head : !skim.map<head : index>
  %6 = skim.uniform head : !skim.map<head : index>
  // CHECK: skim.uniform kv_head : !skim.map<kv_head : index>
  %7 = skim.uniform kv_head : !skim.map<kv_head : index>
  // CHECK: skim.position #{{.*}} () : () -> !skim.map<q - k : index>
  %8 = skim.position affine_map<(q, k) -> (q - k)> () : () -> !skim.map<q - k : index>
  // CHECK: skim.position #{{.*}} (%count) : (!skim.map<: index>) -> !skim.map<q / 128 : index>
  %9 = skim.position affine_map<(q, k)[s0] -> (q floordiv 128 + s0)> (%count) : (!skim.map<: index>) -> !skim.map<q / 128 : index>
  // CHECK: skim.position #{{.*}} (%{{.*}}) : (!skim.map<head : index>) -> !skim.map<head, q, k / 16 : index>
  %10 = skim.position affine_map<(q, k)[s0] -> (q mod 4 + s0 * 2 + k floordiv 16)> (%6) : (!skim.map<head : index>) -> !skim.map<head, q, k / 16 : index>
  // CHECK: skim.input "layout" : !skim.map<head, q / 128, k / 128 : bool>
  %11 = skim.input "layout" : !skim.map<head, q / 128, k / 128 : bool>
  // CHECK: skim.input_list "blocks" : !skim.set<kv_head, q / 64, k / 64>
  %12 = skim.input_list "blocks" : !skim.set<kv_head, q / 64, k / 64>
  // CHECK: skim.operand Q : !skim.map<head, q : vec>
  %13 = skim.operand Q : !skim.map<head, q : vec>
  // CHECK: skim.operand K : !skim.map<kv_head, k : vec>
  %14 = skim.operand K : !skim.map<kv_head, k : vec>
  // CHECK: skim.operand V : !skim.map<kv_head, k : vec>
  %15 = skim.operand V : !skim.map<kv_head, k : vec>
  // CHECK: skim.score : !skim.map<head, q, k : f32>
  %16 = skim.score : !skim.map<head, q, k : f32>
  skim.keep %12 : !skim.set<kv_head, q / 64, k / 64>
}

// CHECK-LABEL: skim.pattern @maps(
skim.pattern @maps(%count: !skim.map<: index> {skim.name = "count"}, %ratio: !skim.map<: f32> {skim.name = "ratio"}) {
  %q = skim.operand Q : !skim.map<head, q : vec>
  %k = skim.operand K : !skim.map<kv_head, k : vec>
  // CHECK: %[[LAST:.*]] = skim.last %{{.*}}, %count : (!skim.map<head, q : vec>, !skim.map<: index>) -> !skim.map<head, q : vec>
  %last = skim.last %q, %count : (!skim.map<head, q : vec>, !skim.map<: index>) -> !skim.map<head, q : vec>
  // CHECK: %[[S:.*]] = skim.dot %[[LAST]], %{{.*}} visible all : (!skim.map<head, q : vec>, !skim.map<kv_head, k : vec>) -> !skim.map<head, q, k : f32>
  %s = skim.dot %last, %k visible all : (!skim.map<head, q : vec>, !skim.map<kv_head, k : vec>) -> !skim.map<head, q, k : f32>
  // CHECK: skim.dot %{{.*}}, %{{.*}} scale %ratio visible any : (!skim.map<head, q : vec>, !skim.map<kv_head, k : vec>, !skim.map<: f32>) -> !skim.map<head, q, k : f32>
  %t = skim.dot %q, %k scale %ratio visible any : (!skim.map<head, q : vec>, !skim.map<kv_head, k : vec>, !skim.map<: f32>) -> !skim.map<head, q, k : f32>
  // CHECK: skim.cast bf16 %{{.*}} : (!skim.map<kv_head, k : vec>) -> !skim.map<kv_head, k : vec>
  %0 = skim.cast bf16 %k : (!skim.map<kv_head, k : vec>) -> !skim.map<kv_head, k : vec>
  // CHECK: skim.cast fp8 %{{.*}} scale %ratio : (!skim.map<kv_head, k : vec>, !skim.map<: f32>) -> !skim.map<kv_head, k : vec>
  %1 = skim.cast fp8 %k scale %ratio : (!skim.map<kv_head, k : vec>, !skim.map<: f32>) -> !skim.map<kv_head, k : vec>
  // CHECK: skim.cast int8 %
  %2 = skim.cast int8 %k : (!skim.map<kv_head, k : vec>) -> !skim.map<kv_head, k : vec>
  // CHECK: skim.cast int4 %
  %3 = skim.cast int4 %k : (!skim.map<kv_head, k : vec>) -> !skim.map<kv_head, k : vec>
  %w = skim.input "weight" : !skim.map<: vec>
  // CHECK: skim.linear %{{.*}}, %{{.*}} : (!skim.map<kv_head, k : vec>, !skim.map<: vec>) -> !skim.map<kv_head, k : vec>
  %4 = skim.linear %k, %w : (!skim.map<kv_head, k : vec>, !skim.map<: vec>) -> !skim.map<kv_head, k : vec>
  // CHECK: skim.add %[[S]], %ratio : (!skim.map<head, q, k : f32>, !skim.map<: f32>) -> !skim.map<head, q, k : f32>
  %5 = skim.add %s, %ratio : (!skim.map<head, q, k : f32>, !skim.map<: f32>) -> !skim.map<head, q, k : f32>
  // CHECK: skim.sub
  %6 = skim.sub %s, %ratio : (!skim.map<head, q, k : f32>, !skim.map<: f32>) -> !skim.map<head, q, k : f32>
  // CHECK: skim.mul %{{.*}}, %ratio : (!skim.map<kv_head, k : vec>, !skim.map<: f32>) -> !skim.map<kv_head, k : vec>
  %7 = skim.mul %k, %ratio : (!skim.map<kv_head, k : vec>, !skim.map<: f32>) -> !skim.map<kv_head, k : vec>
  // CHECK: skim.div %count, %count : (!skim.map<: index>, !skim.map<: index>) -> !skim.map<: index>
  %8 = skim.div %count, %count : (!skim.map<: index>, !skim.map<: index>) -> !skim.map<: index>
  // CHECK: skim.mod
  %9 = skim.mod %count, %count : (!skim.map<: index>, !skim.map<: index>) -> !skim.map<: index>
  // CHECK: skim.min
  %10 = skim.min %s, %ratio : (!skim.map<head, q, k : f32>, !skim.map<: f32>) -> !skim.map<head, q, k : f32>
  // CHECK: skim.max
  %11 = skim.max %s, %ratio : (!skim.map<head, q, k : f32>, !skim.map<: f32>) -> !skim.map<head, q, k : f32>
  // CHECK: skim.exp %[[S]] : !skim.map<head, q, k : f32>
  %12 = skim.exp %s : !skim.map<head, q, k : f32>
  // CHECK: skim.log
  %13 = skim.log %s : !skim.map<head, q, k : f32>
  // CHECK: skim.tanh
  %14 = skim.tanh %s : !skim.map<head, q, k : f32>
  // CHECK: skim.relu
  %15 = skim.relu %k : !skim.map<kv_head, k : vec>
  // CHECK: skim.abs %count : !skim.map<: index>
  %16 = skim.abs %count : !skim.map<: index>
  // CHECK: skim.neg
  %17 = skim.neg %s : !skim.map<head, q, k : f32>
  // CHECK: skim.convert %count : !skim.map<: index> -> !skim.map<: f32>
  %18 = skim.convert %count : !skim.map<: index> -> !skim.map<: f32>
  // CHECK: skim.softmax %[[S]] over k : !skim.map<head, q, k : f32>
  %19 = skim.softmax %s over k : !skim.map<head, q, k : f32>
  // CHECK: skim.softmax %[[S]] over q : !skim.map<head, q, k : f32>
  %20 = skim.softmax %s over q : !skim.map<head, q, k : f32>
  // CHECK: skim.smooth %[[S]], %count : (!skim.map<head, q, k : f32>, !skim.map<: index>) -> !skim.map<head, q, k : f32>
  %21 = skim.smooth %s, %count : (!skim.map<head, q, k : f32>, !skim.map<: index>) -> !skim.map<head, q, k : f32>
  // CHECK: %[[DIAGONALS:.*]] = skim.reduce sum %[[S]] : !skim.map<head, q, k : f32> -> !skim.map<head, q - k : f32>
  %22 = skim.reduce sum %s : !skim.map<head, q, k : f32> -> !skim.map<head, q - k : f32>
  // CHECK: skim.softmax %[[DIAGONALS]] over diagonal : !skim.map<head, q - k : f32>
  %23 = skim.softmax %22 over diagonal : !skim.map<head, q - k : f32>
  // CHECK: skim.reduce mean %{{.*}} : !skim.map<kv_head, k : vec> -> !skim.map<kv_head, k / 128 : vec>
  %24 = skim.reduce mean %k : !skim.map<kv_head, k : vec> -> !skim.map<kv_head, k / 128 : vec>
  // CHECK: skim.reduce max %[[S]] : !skim.map<head, q, k : f32> -> !skim.map<kv_head, q / 64 : f32>
  %25 = skim.reduce max %s : !skim.map<head, q, k : f32> -> !skim.map<kv_head, q / 64 : f32>
  // CHECK: skim.reduce min %[[S]] : !skim.map<head, q, k : f32> -> !skim.map<q / 64, q - k : f32>
  %26 = skim.reduce min %s : !skim.map<head, q, k : f32> -> !skim.map<q / 64, q - k : f32>
  // CHECK: skim.reduce var %[[S]] : !skim.map<head, q, k : f32> -> !skim.map<: f32>
  %27 = skim.reduce var %s : !skim.map<head, q, k : f32> -> !skim.map<: f32>
  %band = skim.affine_set affine_set<(q, k)[s0] : (k - q + s0 - 1 >= 0)> (%count) : (!skim.map<: index>) -> !skim.set<q - k>
  // CHECK: skim.where %[[S]], %{{.*}} : (!skim.map<head, q, k : f32>, !skim.set<q - k>) -> !skim.map<head, q, k : f32>
  %28 = skim.where %s, %band : (!skim.map<head, q, k : f32>, !skim.set<q - k>) -> !skim.map<head, q, k : f32>
  // CHECK: skim.where %[[DIAGONALS]], %{{.*}} : (!skim.map<head, q - k : f32>, !skim.set<q - k>) -> !skim.map<head, q - k : f32>
  %29 = skim.where %22, %band : (!skim.map<head, q - k : f32>, !skim.set<q - k>) -> !skim.map<head, q - k : f32>
  skim.keep %band : !skim.set<q - k>
}

// CHECK-LABEL: skim.pattern @sets(
skim.pattern @sets(%count: !skim.map<: index> {skim.name = "count"}, %ratio: !skim.map<: f32> {skim.name = "ratio"}) {
  // CHECK: %[[BAND:.*]] = skim.affine_set [[$BAND]] (%count) : (!skim.map<: index>) -> !skim.set<q - k>
  %band = skim.affine_set affine_set<(q, k)[s0] : (k - q + s0 - 1 >= 0)> (%count) : (!skim.map<: index>) -> !skim.set<q - k>
  // CHECK: %[[STRIDE:.*]] = skim.affine_set #{{.*}} () : () -> !skim.set<k / 16>
  %stride = skim.affine_set affine_set<(q, k) : ((k floordiv 16) mod 4 == 0)> () : () -> !skim.set<k / 16>
  %k = skim.position affine_map<(q, k) -> (k)> () : () -> !skim.map<k : index>
  %start = skim.input "start" : !skim.map<q / 32 : index>
  // CHECK: skim.compare ge %{{.*}}, %{{.*}} : (!skim.map<k : index>, !skim.map<q / 32 : index>) -> !skim.set<q / 32, k>
  %0 = skim.compare ge %k, %start : (!skim.map<k : index>, !skim.map<q / 32 : index>) -> !skim.set<q / 32, k>
  %importance = skim.input "importance" : !skim.map<kv_head, k : f32>
  // CHECK: skim.compare ne %{{.*}}, %ratio : (!skim.map<kv_head, k : f32>, !skim.map<: f32>) -> !skim.set<kv_head, k>
  %1 = skim.compare ne %importance, %ratio : (!skim.map<kv_head, k : f32>, !skim.map<: f32>) -> !skim.set<kv_head, k>
  // CHECK: %[[K:.*]] = skim.top_k %{{.*}}, %count : (!skim.map<kv_head, k : f32>, !skim.map<: index>) -> !skim.set<kv_head, k>
  %2 = skim.top_k %importance, %count : (!skim.map<kv_head, k : f32>, !skim.map<: index>) -> !skim.set<kv_head, k>
  // CHECK: skim.top_p %{{.*}}, %ratio : (!skim.map<kv_head, k : f32>, !skim.map<: f32>) -> !skim.set<kv_head, k>
  %3 = skim.top_p %importance, %ratio : (!skim.map<kv_head, k : f32>, !skim.map<: f32>) -> !skim.set<kv_head, k>
  // CHECK: skim.cover %[[BAND]] query 64 key 32 : !skim.set<q - k> -> !skim.set<q / 64, k / 32>
  %4 = skim.cover %band query 64 key 32 : !skim.set<q - k> -> !skim.set<q / 64, k / 32>
  // CHECK: skim.cover %[[K]] key 16 : !skim.set<kv_head, k> -> !skim.set<kv_head, q, k / 16>
  %5 = skim.cover %2 key 16 : !skim.set<kv_head, k> -> !skim.set<kv_head, q, k / 16>
  // CHECK: %[[AND:.*]] = skim.and %[[BAND]], %[[STRIDE]] : (!skim.set<q - k>, !skim.set<k / 16>) -> !skim.set<q, k>
  %6 = skim.and %band, %stride : (!skim.set<q - k>, !skim.set<k / 16>) -> !skim.set<q, k>
  // CHECK: skim.or %{{.*}}, %{{.*}}, %{{.*}} : (!skim.set<q / 64, k / 32>, !skim.set<k / 16>, !skim.set<k / 16>) -> !skim.set<q / 64, k / 16>
  %7 = skim.or %4, %stride, %stride : (!skim.set<q / 64, k / 32>, !skim.set<k / 16>, !skim.set<k / 16>) -> !skim.set<q / 64, k / 16>
  // CHECK: %[[NOT:.*]] = skim.not %[[AND]] : !skim.set<q, k>
  %8 = skim.not %6 : !skim.set<q, k>
  %kind = skim.input "kind" : !skim.map<head : index>
  // CHECK: skim.match %{{.*}} [0, 2] (%[[BAND]], %[[STRIDE]]) : (!skim.map<head : index>, !skim.set<q - k>, !skim.set<k / 16>) -> !skim.set<head, q, k>
  %9 = skim.match %kind [0, 2] (%band, %stride) : (!skim.map<head : index>, !skim.set<q - k>, !skim.set<k / 16>) -> !skim.set<head, q, k>
  // CHECK: skim.match %{{.*}} [-1] (%[[BAND]]) default (%[[NOT]]) : (!skim.map<head : index>, !skim.set<q - k>, !skim.set<q, k>) -> !skim.set<head, q, k>
  %10 = skim.match %kind [-1] (%band) default (%8) : (!skim.map<head : index>, !skim.set<q - k>, !skim.set<q, k>) -> !skim.set<head, q, k>
  skim.keep %10 : !skim.set<head, q, k>
}

// CHECK-LABEL: skim.pattern @clauses(
skim.pattern @clauses(%slope: !skim.map<head : f32> {skim.name = "slope"}) {
  %band = skim.affine_set affine_set<(q, k) : (k - q + 63 >= 0)> () : () -> !skim.set<q - k>
  // CHECK: skim.keep %{{.*}} : !skim.set<q - k>
  skim.keep %band : !skim.set<q - k>
  // CHECK: skim.rest_mean query 128 key 64
  skim.rest_mean query 128 key 64
  // CHECK: skim.skip %slope : !skim.map<head : f32>
  skim.skip %slope : !skim.map<head : f32>
  %s = skim.score : !skim.map<head, q, k : f32>
  // CHECK: skim.logit %{{.*}} : !skim.map<head, q, k : f32>
  skim.logit %s : !skim.map<head, q, k : f32>
  // CHECK: skim.sink_logit %slope : !skim.map<head : f32>
  skim.sink_logit %slope : !skim.map<head : f32>
  %length = skim.uniform kv_len : !skim.map<: index>
  %short = skim.affine_set affine_set<(q, k)[s0] : (2047 - s0 >= 0)> (%length) : (!skim.map<: index>) -> !skim.set<>
  // CHECK: skim.dense_when %{{.*}} : !skim.set<>
  skim.dense_when %short : !skim.set<>
  %tokens = skim.input_list "tokens" : !skim.set<k>
  // CHECK: skim.compact %{{.*}} : !skim.set<k>
  skim.compact %tokens : !skim.set<k>
}

// CHECK: skim.attend @clauses {head_dim = 128 : i64, kv_heads = 2 : i64, operand = bf16, out = f32, page_size = 64 : i64, query_heads = 8 : i64, value_dim = 96 : i64}
skim.attend @clauses {query_heads = 8, kv_heads = 2, head_dim = 128, value_dim = 96, operand = bf16, out = f32, page_size = 64}
// CHECK: skim.attend @sets {head_dim = 64 : i64, kv_heads = 1 : i64, operand = f16, out = f16, query_heads = 1 : i64, value_dim = 64 : i64}
skim.attend @sets {query_heads = 1, kv_heads = 1, head_dim = 64, value_dim = 64, operand = f16, out = f16}

// Folds and canonicalisations.
// RUN: skim-opt %s -canonicalize | FileCheck %s

// CHECK-DAG: [[$ALL:#.*]] = affine_set<(d0, d1) : (0 == 0)>
// CHECK-DAG: [[$NONE:#.*]] = affine_set<(d0, d1) : (1 == 0)>
// CHECK-DAG: [[$NEAR:#.*]] = affine_set<(d0, d1) : (-d0 + d1 + 63 >= 0)>
// CHECK-DAG: [[$TWICE:#.*]] = affine_set<(d0, d1)[s0] : (-d0 + d1 + s0 * 2 - 1 >= 0)>

// Constants are evaluated: floored division, remainders that are not negative.
// CHECK-LABEL: skim.pattern @index_arithmetic
skim.pattern @index_arithmetic {
  %a = skim.constant -7 : index -> !skim.map<: index>
  %b = skim.constant 2 : index -> !skim.map<: index>
  %div = skim.div %a, %b : (!skim.map<: index>, !skim.map<: index>) -> !skim.map<: index>
  %mod = skim.mod %a, %b : (!skim.map<: index>, !skim.map<: index>) -> !skim.map<: index>
  %mul = skim.mul %div, %b : (!skim.map<: index>, !skim.map<: index>) -> !skim.map<: index>
  %add = skim.add %mul, %mod : (!skim.map<: index>, !skim.map<: index>) -> !skim.map<: index>
  %sub = skim.sub %add, %a : (!skim.map<: index>, !skim.map<: index>) -> !skim.map<: index>
  %abs = skim.abs %div : !skim.map<: index>
  %neg = skim.neg %abs : !skim.map<: index>
  %min = skim.min %neg, %sub : (!skim.map<: index>, !skim.map<: index>) -> !skim.map<: index>
  %relu = skim.relu %min : !skim.map<: index>
  %max = skim.max %relu, %min : (!skim.map<: index>, !skim.map<: index>) -> !skim.map<: index>
  %k = skim.uniform kv_len : !skim.map<: index>
  // CHECK-DAG: %[[SUB:.*]] = skim.constant 0 : index
  // CHECK-DAG: %[[ABS:.*]] = skim.constant 4 : index
  // CHECK-DAG: %[[NEG:.*]] = skim.constant -4 : index
  // CHECK: skim.match %{{.*}} [0, 1] (
  %x0 = skim.compare lt %k, %sub : (!skim.map<: index>, !skim.map<: index>) -> !skim.set<>
  %x1 = skim.compare lt %k, %abs : (!skim.map<: index>, !skim.map<: index>) -> !skim.set<>
  %x2 = skim.compare lt %k, %min : (!skim.map<: index>, !skim.map<: index>) -> !skim.set<>
  %x3 = skim.compare lt %k, %max : (!skim.map<: index>, !skim.map<: index>) -> !skim.set<>
  %all = skim.match %k [0, 1] (%x0, %x1) default (%x2) : (!skim.map<: index>, !skim.set<>, !skim.set<>, !skim.set<>) -> !skim.set<>
  %keep = skim.and %all, %x3 : (!skim.set<>, !skim.set<>) -> !skim.set<>
  skim.keep %keep : !skim.set<>
}

// What has no value stays.
// CHECK-LABEL: skim.pattern @no_value
skim.pattern @no_value {
  %zero = skim.constant 0 : index -> !skim.map<: index>
  %big = skim.constant 9223372036854775807 : index -> !skim.map<: index>
  // CHECK: skim.div
  %div = skim.div %big, %zero : (!skim.map<: index>, !skim.map<: index>) -> !skim.map<: index>
  // CHECK: skim.mod
  %mod = skim.mod %big, %zero : (!skim.map<: index>, !skim.map<: index>) -> !skim.map<: index>
  // CHECK: skim.add
  %add = skim.add %big, %big : (!skim.map<: index>, !skim.map<: index>) -> !skim.map<: index>
  %a = skim.compare lt %div, %mod : (!skim.map<: index>, !skim.map<: index>) -> !skim.set<>
  %b = skim.compare lt %add, %mod : (!skim.map<: index>, !skim.map<: index>) -> !skim.set<>
  %keep = skim.and %a, %b : (!skim.set<>, !skim.set<>) -> !skim.set<>
  skim.keep %keep : !skim.set<>
}

// CHECK-LABEL: skim.pattern @f32_arithmetic
skim.pattern @f32_arithmetic(%x: !skim.map<: f32> {skim.name = "x"}) {
  %n = skim.constant 3 : index -> !skim.map<: index>
  %three = skim.convert %n : !skim.map<: index> -> !skim.map<: f32>
  %half = skim.constant 0.5 : f32 -> !skim.map<: f32>
  %mul = skim.mul %three, %half : (!skim.map<: f32>, !skim.map<: f32>) -> !skim.map<: f32>
  %neg = skim.neg %mul : !skim.map<: f32>
  %abs = skim.abs %neg : !skim.map<: f32>
  %relu = skim.relu %neg : !skim.map<: f32>
  %exp = skim.exp %relu : !skim.map<: f32>
  %log = skim.log %exp : !skim.map<: f32>
  %tanh = skim.tanh %log : !skim.map<: f32>
  %add = skim.add %tanh, %abs : (!skim.map<: f32>, !skim.map<: f32>) -> !skim.map<: f32>
  %sub = skim.sub %add, %half : (!skim.map<: f32>, !skim.map<: f32>) -> !skim.map<: f32>
  %div = skim.div %sub, %half : (!skim.map<: f32>, !skim.map<: f32>) -> !skim.map<: f32>
  %min = skim.min %div, %three : (!skim.map<: f32>, !skim.map<: f32>) -> !skim.map<: f32>
  %max = skim.max %min, %half : (!skim.map<: f32>, !skim.map<: f32>) -> !skim.map<: f32>
  // CHECK-NEXT: %[[TWO:.*]] = skim.constant 2.000000e+00 : f32
  // CHECK-NEXT: skim.compare gt %x, %[[TWO]]
  %keep = skim.compare gt %x, %max : (!skim.map<: f32>, !skim.map<: f32>) -> !skim.set<>
  skim.keep %keep : !skim.set<>
}

// Comparisons of constants hold everywhere or nowhere; NaN compares to nothing.
// CHECK-LABEL: skim.pattern @constant_comparisons
skim.pattern @constant_comparisons {
  %nan = skim.constant 0x7FC00000 : f32 -> !skim.map<: f32>
  %x = skim.constant 1.0 : f32 -> !skim.map<: f32>
  %ne = skim.compare ne %nan, %x : (!skim.map<: f32>, !skim.map<: f32>) -> !skim.set<>
  // CHECK-NEXT: %[[SET:.*]] = skim.affine_set [[$NONE]] () : () -> !skim.set<>
  // CHECK-NEXT: skim.keep %[[SET]]
  skim.keep %ne : !skim.set<>
}

// CHECK-LABEL: skim.pattern @constant_truth
skim.pattern @constant_truth {
  %yes = skim.constant true -> !skim.map<: bool>
  %set = skim.as_set %yes : !skim.map<: bool> -> !skim.set<>
  // CHECK-NEXT: %[[SET:.*]] = skim.affine_set [[$ALL]] () : () -> !skim.set<>
  // CHECK-NEXT: skim.keep %[[SET]]
  skim.keep %set : !skim.set<>
}

// Constant symbols become part of the constraints, repeated ones one, unused ones go.
// CHECK-LABEL: skim.pattern @constant_symbols
skim.pattern @constant_symbols(%n: !skim.map<: index> {skim.name = "n"}) {
  %c = skim.constant 64 : index -> !skim.map<: index>
  // CHECK-DAG: %[[A:.*]] = skim.affine_set [[$NEAR]] () : () -> !skim.set<q - k>
  %a = skim.affine_set affine_set<(q, k)[s0, s1] : (k - q + s0 - 1 >= 0)> (%c, %n) : (!skim.map<: index>, !skim.map<: index>) -> !skim.set<q - k>
  // CHECK-DAG: %[[B:.*]] = skim.affine_set [[$TWICE]] (%n) : (!skim.map<: index>) -> !skim.set<q - k>
  %b = skim.affine_set affine_set<(q, k)[s0, s1] : (k - q + s0 + s1 - 1 >= 0)> (%n, %n) : (!skim.map<: index>, !skim.map<: index>) -> !skim.set<q - k>
  // CHECK: skim.and %[[A]], %[[B]]
  %keep = skim.and %a, %b : (!skim.set<q - k>, !skim.set<q - k>) -> !skim.set<q - k>
  skim.keep %keep : !skim.set<q - k>
}

// CHECK-LABEL: skim.pattern @constant_position
skim.pattern @constant_position(%start: !skim.map<: f32> {skim.name = "start"}) {
  %c = skim.constant 64 : index -> !skim.map<: index>
  %p = skim.position affine_map<(q, k)[s0] -> (s0 * 2 + 1)> (%c) : (!skim.map<: index>) -> !skim.map<: index>
  // CHECK: %[[C:.*]] = skim.constant 1.290000e+02 : f32
  %x = skim.convert %p : !skim.map<: index> -> !skim.map<: f32>
  // CHECK: skim.compare lt %start, %[[C]]
  %keep = skim.compare lt %start, %x : (!skim.map<: f32>, !skim.map<: f32>) -> !skim.set<>
  skim.keep %keep : !skim.set<>
}

// `and`, `or`, `not` of constants; nested ones become one; a set counts once.
// CHECK-LABEL: skim.pattern @combinations
skim.pattern @combinations {
  // CHECK-DAG: %[[A:.*]] = skim.input_list "a"
  %a = skim.input_list "a" : !skim.set<k>
  // CHECK-DAG: %[[B:.*]] = skim.input_list "b"
  %b = skim.input_list "b" : !skim.set<k>
  %all = skim.affine_set affine_set<(q, k) : (0 == 0)> () : () -> !skim.set<>
  %none = skim.not %all : !skim.set<>
  %0 = skim.and %a, %all : (!skim.set<k>, !skim.set<>) -> !skim.set<k>
  %1 = skim.or %b, %none : (!skim.set<k>, !skim.set<>) -> !skim.set<k>
  %2 = skim.not %0 : !skim.set<k>
  %3 = skim.not %2 : !skim.set<k>
  // CHECK: %[[OR:.*]] = skim.or %[[A]], %[[B]] : (!skim.set<k>, !skim.set<k>) -> !skim.set<k>
  %4 = skim.or %3, %1 : (!skim.set<k>, !skim.set<k>) -> !skim.set<k>
  %5 = skim.or %4, %a : (!skim.set<k>, !skim.set<k>) -> !skim.set<k>
  // CHECK-NEXT: skim.keep %[[OR]]
  skim.keep %5 : !skim.set<k>
}

// CHECK-LABEL: skim.pattern @absorbed
skim.pattern @absorbed {
  %a = skim.input_list "a" : !skim.set<k>
  %none = skim.affine_set affine_set<(q, k) : (1 == 0)> () : () -> !skim.set<>
  %0 = skim.and %a, %none : (!skim.set<k>, !skim.set<>) -> !skim.set<k>
  %1 = skim.not %0 : !skim.set<k>
  // CHECK-NEXT: %[[ALL:.*]] = skim.affine_set [[$ALL]] () : () -> !skim.set<k>
  // CHECK-NEXT: skim.keep %[[ALL]]
  skim.keep %1 : !skim.set<k>
}

// CHECK-LABEL: skim.pattern @chosen
skim.pattern @chosen {
  // CHECK-NEXT: %[[B:.*]] = skim.input_list "b"
  %a = skim.input_list "a" : !skim.set<k>
  %b = skim.input_list "b" : !skim.set<k>
  %c = skim.constant 7 : index -> !skim.map<: index>
  %0 = skim.match %c [0, 7] (%a, %b) : (!skim.map<: index>, !skim.set<k>, !skim.set<k>) -> !skim.set<k>
  // CHECK-NEXT: skim.keep %[[B]]
  skim.keep %0 : !skim.set<k>
}

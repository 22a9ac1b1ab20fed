// RUN: skim-opt --skim-expand-softmax %s | FileCheck %s

// CHECK-LABEL: skim.pattern @rows
// CHECK:       %[[X:.*]] = skim.input "x"
// CHECK-NEXT:  %[[LARGEST:.*]] = skim.reduce max %[[X]] : !skim.map<head, q, k : f32> -> !skim.map<head, q : f32>
// CHECK-NEXT:  %[[SHIFTED:.*]] = skim.sub %[[X]], %[[LARGEST]]
// CHECK-NEXT:  %[[POWERS:.*]] = skim.exp %[[SHIFTED]]
// CHECK-NEXT:  %[[TOTAL:.*]] = skim.reduce sum %[[POWERS]] : !skim.map<head, q, k : f32> -> !skim.map<head, q : f32>
// CHECK-NEXT:  %[[P:.*]] = skim.div %[[POWERS]], %[[TOTAL]]
// CHECK:       skim.top_k %[[P]]
// CHECK-NOT:   skim.softmax
skim.pattern @rows {
  %x = skim.input "x" : !skim.map<head, q, k : f32>
  %p = skim.softmax %x over k : !skim.map<head, q, k : f32>
  %n = skim.constant 16 : index -> !skim.map<: index>
  %best = skim.top_k %p, %n : (!skim.map<head, q, k : f32>, !skim.map<: index>) -> !skim.set<head, q, k>
  skim.keep %best : !skim.set<head, q, k>
}
skim.attend @rows {query_heads = 2, kv_heads = 1, head_dim = 64, value_dim = 64, operand = f32, out = f32}

// CHECK-LABEL: skim.pattern @distances
// CHECK:       skim.reduce max %{{.*}} : !skim.map<q - k : f32> -> !skim.map<: f32>
// CHECK:       skim.reduce sum %{{.*}} : !skim.map<q - k : f32> -> !skim.map<: f32>
skim.pattern @distances {
  %x = skim.input "x" : !skim.map<q - k : f32>
  %p = skim.softmax %x over diagonal : !skim.map<q - k : f32>
  %n = skim.constant 16 : index -> !skim.map<: index>
  %best = skim.top_k %p, %n : (!skim.map<q - k : f32>, !skim.map<: index>) -> !skim.set<q - k>
  skim.keep %best : !skim.set<q - k>
}
skim.attend @distances {query_heads = 2, kv_heads = 1, head_dim = 64, value_dim = 64, operand = f32, out = f32}

// RUN: skim-opt --skim-merge-equal %s | FileCheck %s

// Scores that are written twice are one, and so is what is made of them alike; what differs in an
// attribute or an operand stays, and so does a list that nothing needs.
// CHECK-LABEL: skim.pattern @twice
// CHECK:       %[[Q:.*]] = skim.operand Q
// CHECK-NEXT:  %[[K:.*]] = skim.operand K
// CHECK-NEXT:  %[[S:.*]] = skim.dot %[[Q]], %[[K]] visible all
// CHECK-NEXT:  %[[N:.*]] = skim.constant 16
// CHECK-NEXT:  %[[BEST:.*]] = skim.top_k %[[S]], %[[N]]
// CHECK-NEXT:  %[[ANY:.*]] = skim.dot %[[Q]], %[[K]] visible any
// CHECK-NEXT:  %[[MORE:.*]] = skim.constant 17
// CHECK-NEXT:  %[[OTHER:.*]] = skim.top_k %[[ANY]], %[[MORE]]
// CHECK-NEXT:  skim.input_list "blocks"
// CHECK-NEXT:  %[[SET:.*]] = skim.or %[[BEST]], %[[BEST]], %[[OTHER]]
// CHECK-NEXT:  skim.keep %[[SET]]
skim.pattern @twice {
  %q = skim.operand Q : !skim.map<head, q : vec>
  %k = skim.operand K : !skim.map<kv_head, k : vec>
  %s = skim.dot %q, %k visible all : (!skim.map<head, q : vec>, !skim.map<kv_head, k : vec>) -> !skim.map<head, q, k : f32>
  %n = skim.constant 16 : index -> !skim.map<: index>
  %best = skim.top_k %s, %n : (!skim.map<head, q, k : f32>, !skim.map<: index>) -> !skim.set<head, q, k>
  %q_again = skim.operand Q : !skim.map<head, q : vec>
  %k_again = skim.operand K : !skim.map<kv_head, k : vec>
  %s_again = skim.dot %q_again, %k_again visible all : (!skim.map<head, q : vec>, !skim.map<kv_head, k : vec>) -> !skim.map<head, q, k : f32>
  %n_again = skim.constant 16 : index -> !skim.map<: index>
  %best_again = skim.top_k %s_again, %n_again : (!skim.map<head, q, k : f32>, !skim.map<: index>) -> !skim.set<head, q, k>
  %t = skim.dot %q_again, %k visible any : (!skim.map<head, q : vec>, !skim.map<kv_head, k : vec>) -> !skim.map<head, q, k : f32>
  %m = skim.constant 17 : index -> !skim.map<: index>
  %other = skim.top_k %t, %m : (!skim.map<head, q, k : f32>, !skim.map<: index>) -> !skim.set<head, q, k>
  %blocks = skim.input_list "blocks" : !skim.set<head, k / 64>
  %set = skim.or %best, %best_again, %other : (!skim.set<head, q, k>, !skim.set<head, q, k>, !skim.set<head, q, k>) -> !skim.set<head, q, k>
  skim.keep %set : !skim.set<head, q, k>
}
skim.attend @twice {query_heads = 2, kv_heads = 1, head_dim = 64, value_dim = 64, operand = f32, out = f32}

// RUN: skim-opt --skim-expand-dense-when %s | FileCheck %s

// CHECK-LABEL: skim.pattern @short
// CHECK:       %[[BAND:.*]] = skim.affine_set
// CHECK:       %[[SHORT:.*]] = skim.affine_set
// CHECK-NOT:   skim.dense_when
// CHECK:       %[[KEPT:.*]] = skim.or %[[SHORT]], %[[BAND]]
// CHECK:       skim.keep %[[KEPT]]
skim.pattern @short {
  %band = skim.affine_set affine_set<(q, k) : (k - q + 511 >= 0)> () : () -> !skim.set<q - k>
  skim.keep %band : !skim.set<q - k>
  %length = skim.uniform kv_len : !skim.map<: index>
  %short = skim.affine_set affine_set<(q, k)[s0] : (2047 - s0 >= 0)> (%length) : (!skim.map<: index>) -> !skim.set<>
  skim.dense_when %short : !skim.set<>
}

// What is gathered grows alike, also by an axis of heads.
// CHECK-LABEL: skim.pattern @gathered
// CHECK:       %[[TOKENS:.*]] = skim.affine_set
// CHECK:       %[[SHORT:.*]] = skim.affine_set
// CHECK-NOT:   skim.dense_when
// CHECK:       skim.keep
// CHECK:       %[[WIDE:.*]] = skim.or %[[SHORT]], %[[TOKENS]]
// CHECK:       skim.compact %[[WIDE]] : !skim.set<head, k>
skim.pattern @gathered(%limit: !skim.map<head : index> {skim.name = "limit"}) {
  %tokens = skim.affine_set affine_set<(q, k) : (7 - k >= 0)> () : () -> !skim.set<k>
  skim.keep %tokens : !skim.set<k>
  skim.compact %tokens : !skim.set<k>
  %length = skim.uniform kv_len : !skim.map<: index>
  %short = skim.affine_set affine_set<(q, k)[s0, s1] : (s0 - s1 >= 0)> (%limit, %length) : (!skim.map<head : index>, !skim.map<: index>) -> !skim.set<head>
  skim.dense_when %short : !skim.set<head>
}

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

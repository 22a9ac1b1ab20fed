// RUN: skim-opt --skim-choose-schedule %s | FileCheck %s

// CHECK: skim.attend @blocks {{.*}}tile.schedule = #tile.schedule<rows = 64, keys = 96>
skim.pattern @blocks {
  %x = skim.input "layout" : !skim.map<q / 128, k / 24 : bool>
  %s = skim.as_set %x : !skim.map<q / 128, k / 24 : bool> -> !skim.set<q / 128, k / 24>
  skim.keep %s : !skim.set<q / 128, k / 24>
}
skim.attend @blocks {query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32}

// CHECK: skim.attend @window {{.*}}tile.schedule = #tile.schedule<rows = 64, keys = 64>
skim.pattern @window {
  %band = skim.affine_set affine_set<(q, k) : (k - q + 511 >= 0)> () : () -> !skim.set<q - k>
  skim.keep %band : !skim.set<q - k>
}
skim.attend @window {query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32}

// A schedule that stands there already stays.
// CHECK: skim.attend @chosen {{.*}}tile.schedule = #tile.schedule<rows = 16, keys = 32>
skim.pattern @chosen {
  %band = skim.affine_set affine_set<(q, k) : (k - q + 511 >= 0)> () : () -> !skim.set<q - k>
  skim.keep %band : !skim.set<q - k>
}
skim.attend @chosen {query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32, tile.schedule = #tile.schedule<rows = 16, keys = 32>}

// RUN: skim-opt --skim-plan --split-input-file %s | FileCheck %s
// RUN: skim-opt --skim-plan --split-input-file --verify-diagnostics %s -o /dev/null

// Causality, sink, window and a stride with run-time parameters: everything in closed form.
// CHECK-LABEL: tile.program @attention
// CHECK-SAME:    items = #tile.items<head = query, axis = queries>
// CHECK-SAME:    schedule = #tile.schedule<rows = 64, keys = 64>
// CHECK:         %[[BASE:.*]] = tile.uniform base of %[[ITEM:.*]] : index
// CHECK:         %[[LENGTH:.*]] = tile.uniform kv_len of %[[ITEM]] : index
// CHECK-DAG:     %[[SINK:.*]] = tile.parameter 0 of %[[ITEM]] : index
// CHECK-DAG:     %[[WINDOW:.*]] = tile.parameter 1 of %[[ITEM]] : index
// CHECK-NOT:     tile.literal
// CHECK:         %[[QUERIES:.*]] = tile.load_queries %[[ITEM]] : !tile.shared<64x128xf32>
// CHECK:         tile.for_each_visit %[[VISIT:.*]] of %[[ITEM]] symbols(%[[BASE]], %[[LENGTH]], %{{.*}}, %{{.*}}) touched
// CHECK-SAME:      source #tile.source<tokens>
// CHECK:           tile.issue_load keys %[[VISIT]]
// CHECK:           tile.issue_dot %[[QUERIES]]
// CHECK:           tile.mask %{{.*}} at %[[VISIT]]
// CHECK-COUNT-4:     tile.contains
// CHECK:           tile.online_softmax
// CHECK:           tile.issue_load values %[[VISIT]]
// CHECK:           tile.accumulate
// CHECK:         tile.finish %[[ITEM]]
skim.pattern @strided(%sink: !skim.map<: index> {skim.name = "sink", skim.default = 64 : index}, %window: !skim.map<: index> {skim.name = "window", skim.default = 512 : index}) {
  %band = skim.affine_set affine_set<(q, k)[s0] : (k - q + s0 - 1 >= 0)> (%window) : (!skim.map<: index>) -> !skim.set<q - k>
  %first = skim.affine_set affine_set<(q, k)[s0] : (s0 - 1 - k >= 0)> (%sink) : (!skim.map<: index>) -> !skim.set<k>
  %stride = skim.affine_set affine_set<(q, k) : ((k floordiv 64) mod 8 == 7)> () : () -> !skim.set<k / 64>
  %keep = skim.or %band, %first, %stride : (!skim.set<q - k>, !skim.set<k>, !skim.set<k / 64>) -> !skim.set<q, k>
  skim.keep %keep : !skim.set<q, k>
}
skim.attend @strided {query_heads = 8, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = f32}

// -----

// A block mask that the caller gives: a literal on its cells decides which tiles are visited.
// CHECK-LABEL: tile.program @attention
// CHECK:         %[[LITERAL:.*]] = tile.literal of %[[ITEM:.*]] cells(128, 128) {
// CHECK:           tile.load_cell input 0(head = query) cells(128, 128)
// CHECK:         tile.for_each_visit {{.*}} literals(%[[LITERAL]]) touched [{{.*}}literals = [0]{{.*}}] hidden [{{.*}}literals = [not 0]
// CHECK:           tile.literal_value %[[LITERAL]]
skim.pattern @block_mask {
  %x = skim.input "layout" : !skim.map<head, q / 128, k / 128 : bool>
  %s = skim.as_set %x : !skim.map<head, q / 128, k / 128 : bool> -> !skim.set<head, q / 128, k / 128>
  skim.keep %s : !skim.set<head, q / 128, k / 128>
}
skim.attend @block_mask {query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32}

// -----

// Documents: the first key of each row's document.
// CHECK-LABEL: tile.program @attention
// CHECK:         tile.literal of %{{.*}} cells(1, 1) {
// CHECK-NEXT:    ^bb0(%[[Q:.*]]: index, %[[K:.*]]: index):
// CHECK-NEXT:      %[[START:.*]] = tile.load_cell input 0(head = none) cells(1, 0) at(%[[Q]], %[[K]]) of %{{.*}} : index
// CHECK-NEXT:      arith.cmpi sge, %[[K]], %[[START]] : index
skim.pattern @documents {
  %start = skim.input "start" : !skim.map<q : index>
  %key = skim.position affine_map<(q, k) -> (k)> () : () -> !skim.map<k : index>
  %document = skim.compare ge %key, %start : (!skim.map<k : index>, !skim.map<q : index>) -> !skim.set<q, k>
  skim.keep %document : !skim.set<q, k>
}
skim.attend @documents {query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32}

// -----

// A match by an input: its cases are literals of the whole item, and an unlisted value sets the status.
// CHECK-LABEL: tile.program @attention
// CHECK:         %[[KIND:.*]] = tile.load_cell input 0(head = query) cells(0, 0)
// CHECK:         tile.raise_status unlisted_label if
// CHECK-COUNT-3: tile.literal of %{{.*}} cells(0, 0)
// CHECK:         tile.for_each_visit
skim.pattern @lserve {
  %kind = skim.input "kind" : !skim.map<head : index>
  %band = skim.affine_set affine_set<(q, k) : (k - q + 127 >= 0)> () : () -> !skim.set<q - k>
  %all = skim.affine_set affine_set<(q, k) : (0 == 0)> () : () -> !skim.set<>
  %a = skim.match %kind [0, 1] (%band, %all) : (!skim.map<head : index>, !skim.set<q - k>, !skim.set<>) -> !skim.set<head, q - k>
  skim.keep %a : !skim.set<head, q - k>
}
skim.attend @lserve {query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32}

// -----

// The rest is a second walk, over block means; `logit` does not touch it, the sink closes the row.
// CHECK-LABEL: tile.program @attention
// CHECK:         %[[FIRST:.*]] = tile.for_each_visit
// CHECK-SAME:      source #tile.source<tokens>
// CHECK:           tile.map_scores
// CHECK:             math.tanh %{{.*}} : f32
// CHECK:         tile.for_each_visit
// CHECK-SAME:      source #tile.source<pooled keys = 0, values = 1, block = 64> carry(%{{.*}} = %[[FIRST]])
// CHECK:           tile.map_scores
// CHECK:             math.log %{{.*}} : f32
// CHECK-NOT:         math.tanh
// CHECK:         tile.finish %{{.*}}, %{{.*}} sink(%{{.*}}) : !tile.state<64x64>
skim.pattern @capped(%sink: !skim.map<head : f32> {skim.name = "sink"}) {
  %band = skim.affine_set affine_set<(q, k) : (k - q + 127 >= 0)> () : () -> !skim.set<q - k>
  skim.keep %band : !skim.set<q - k>
  skim.rest_mean query 64 key 64
  %s = skim.score : !skim.map<head, q, k : f32>
  %capped = skim.tanh %s : !skim.map<head, q, k : f32>
  skim.logit %capped : !skim.map<head, q, k : f32>
  skim.sink_logit %sink : !skim.map<head : f32>
}
skim.attend @capped {query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32}

// -----

// Dense where a request is short.
// CHECK-LABEL: tile.program @attention
// CHECK:         tile.for_each_visit
// CHECK-NOT:     skim.
skim.pattern @short {
  %band = skim.affine_set affine_set<(q, k) : (k - q + 511 >= 0)> () : () -> !skim.set<q - k>
  skim.keep %band : !skim.set<q - k>
  %length = skim.uniform kv_len : !skim.map<: index>
  %short = skim.affine_set affine_set<(q, k)[s0] : (2047 - s0 >= 0)> (%length) : (!skim.map<: index>) -> !skim.set<>
  skim.dense_when %short : !skim.set<>
}
skim.attend @short {query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32}

// -----

// Too large for a closed form: one literal that is asked for pair by pair, and a warning.
// CHECK-LABEL: tile.program @attention
// CHECK:         tile.literal of %{{.*}} cells(1, 1) {
// CHECK:         tile.for_each_visit {{.*}} touched [{{.*}}literals = [0]
skim.pattern @large {
  %0 = skim.affine_set affine_set<(d0, d1) : (-d0 - d1 + ((d0 + d1) floordiv 7) * 7 + 2 >= 0)> () : () -> !skim.set<q, k>
  %1 = skim.affine_set affine_set<(d0, d1) : (-d0 - d1 * 2 + ((d0 + d1 * 2) floordiv 11) * 11 + 3 >= 0)> () : () -> !skim.set<q, k>
  %2 = skim.or %0, %1 : (!skim.set<q, k>, !skim.set<q, k>) -> !skim.set<q, k>
  %3 = skim.affine_set affine_set<(d0, d1) : (d0 * -3 - d1 + ((d0 * 3 + d1) floordiv 13) * 13 + 4 >= 0)> () : () -> !skim.set<q, k>
  %4 = skim.affine_set affine_set<(d0, d1) : (-d0 + d1 * 2 + ((d0 - d1 * 2) floordiv 17) * 17 + 5 >= 0)> () : () -> !skim.set<q, k>
  %5 = skim.or %3, %4 : (!skim.set<q, k>, !skim.set<q, k>) -> !skim.set<q, k>
  %6 = skim.affine_set affine_set<(d0, d1) : (-d0 - d1 * 3 + ((d0 + d1 * 3) floordiv 19) * 19 + 8 >= 0)> () : () -> !skim.set<q, k>
  %7 = skim.and %2, %5, %6 : (!skim.set<q, k>, !skim.set<q, k>, !skim.set<q, k>) -> !skim.set<q, k>
  // expected-warning@+2 {{the set has no closed form of bearable size}}
  // expected-note@+1 {{cannot be projected on tiles exactly: expected at most 64 conjunctions}}
  skim.keep %7 : !skim.set<q, k>
}
skim.attend @large {query_heads = 1, kv_heads = 1, head_dim = 64, value_dim = 64, operand = f32, out = f32}

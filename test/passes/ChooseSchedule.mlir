// RUN: skim-opt --skim-choose-schedule %s | FileCheck %s
// RUN: skim-opt --skim-choose-schedule=target=sm_90a %s | FileCheck %s --check-prefix=HOPPER

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

// Where a selection tells keys apart for all rows of a tile alike, they are gathered.
// HOPPER: skim.attend @columns {{.*}}tile.schedule = #tile.schedule<rows = 192, keys = 64, stages = 2, consumers = 3, gather_keys = true, producer_registers = 80, consumer_registers = 144>
skim.pattern @columns {
  %x = skim.input "chosen" : !skim.map<head, k : bool>
  %s = skim.as_set %x : !skim.map<head, k : bool> -> !skim.set<head, k>
  skim.keep %s : !skim.set<head, k>
}
skim.attend @columns {query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = bf16, out = bf16}

// Not where a logit depends on where its key stands. A search and a function of scores take more registers than three consumers leave.
// HOPPER: skim.attend @biased {{.*}}tile.schedule = #tile.schedule<rows = 128, keys = 64, stages = 2, consumers = 2, producer_registers = 136, consumer_registers = 184>
skim.pattern @biased {
  %x = skim.input "chosen" : !skim.map<head, k : bool>
  %s = skim.as_set %x : !skim.map<head, k : bool> -> !skim.set<head, k>
  skim.keep %s : !skim.set<head, k>
  %score = skim.score : !skim.map<head, q, k : f32>
  %bias = skim.input "bias" : !skim.map<head, k : f32>
  %logit = skim.add %score, %bias : (!skim.map<head, q, k : f32>, !skim.map<head, k : f32>) -> !skim.map<head, q, k : f32>
  skim.logit %logit : !skim.map<head, q, k : f32>
}
skim.attend @biased {query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = bf16, out = bf16}

// Keys that no formula but a closed one tells apart are visited by tiles, and pages that no tensor map describes are copied row by row.
// HOPPER: skim.attend @sink {{.*}}tile.packs_heads, tile.schedule = #tile.schedule<rows = 96, keys = 64, stages = 2, consumers = 3, copy_rows = true, producer_registers = 80, consumer_registers = 144>
skim.pattern @sink {
  %first = skim.affine_set affine_set<(q, k) : (63 - k >= 0)> () : () -> !skim.set<k>
  skim.keep %first : !skim.set<k>
}
skim.attend @sink {query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = bf16, out = bf16, page_size = 4}

// Heads of a group that the pattern treats alike share a tile.
// HOPPER: skim.attend @packed_window {{.*}}tile.packs_heads, tile.schedule = #tile.schedule<rows = 48, keys = 64, stages = 2, consumers = 3, producer_registers = 56, consumer_registers = 152>
skim.pattern @packed_window {
  %band = skim.affine_set affine_set<(q, k) : (k - q + 511 >= 0)> () : () -> !skim.set<q - k>
  skim.keep %band : !skim.set<q - k>
}
skim.attend @packed_window {query_heads = 8, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16}

// Blocks of one mask for each head.
// HOPPER: skim.attend @head_blocks {{.*}}query_heads
// HOPPER-NOT: tile.packs_heads
// HOPPER-SAME: tile.schedule = #tile.schedule<rows = 128, keys = 128, stages = 2, consumers = 2, producer_registers = 72, consumer_registers = 216>
skim.pattern @head_blocks {
  %x = skim.input "layout" : !skim.map<head, q / 128, k / 128 : bool>
  %s = skim.as_set %x : !skim.map<head, q / 128, k / 128 : bool> -> !skim.set<head, q / 128, k / 128>
  skim.keep %s : !skim.set<head, q / 128, k / 128>
}
skim.attend @head_blocks {query_heads = 8, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16}

// Blocks that a group shares: 32 positions of four heads.
// HOPPER: skim.attend @shared_blocks {{.*}}tile.packs_heads, tile.schedule = #tile.schedule<rows = 32, keys = 128, stages = 2, consumers = 2, producer_registers = 72, consumer_registers = 216>
skim.pattern @shared_blocks {
  %x = skim.input "layout" : !skim.map<kv_head, q / 128, k / 128 : bool>
  %s = skim.as_set %x : !skim.map<kv_head, q / 128, k / 128 : bool> -> !skim.set<kv_head, q / 128, k / 128>
  skim.keep %s : !skim.set<kv_head, q / 128, k / 128>
}
skim.attend @shared_blocks {query_heads = 8, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16}

// Three heads do not divide the rows of every tile.
// HOPPER: skim.attend @three_heads {{.*}}query_heads
// HOPPER-NOT: tile.packs_heads
// HOPPER-SAME: tile.schedule = #tile.schedule<rows = 192, keys = 64, stages = 2, consumers = 3, producer_registers = 56, consumer_registers = 152>
skim.pattern @three_heads {
  %band = skim.affine_set affine_set<(q, k) : (k - q + 511 >= 0)> () : () -> !skim.set<q - k>
  skim.keep %band : !skim.set<q - k>
}
skim.attend @three_heads {query_heads = 6, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16}

// A search beside the widest accumulators: the scores of 32 keys.
// HOPPER: skim.attend @wide_columns {{.*}}tile.schedule = #tile.schedule<rows = 128, keys = 32, stages = 2, consumers = 2, gather_keys = true, producer_registers = 88, consumer_registers = 208>
skim.pattern @wide_columns {
  %x = skim.input "chosen" : !skim.map<head, k : bool>
  %s = skim.as_set %x : !skim.map<head, k : bool> -> !skim.set<head, k>
  skim.keep %s : !skim.set<head, k>
}
skim.attend @wide_columns {query_heads = 4, kv_heads = 2, head_dim = 256, value_dim = 256, operand = bf16, out = bf16}

// A closed form searches nothing, and leaves the scores of 64.
// HOPPER: skim.attend @wide_window {{.*}}tile.schedule = #tile.schedule<rows = 64, keys = 64, stages = 2, consumers = 2, producer_registers = 40, consumer_registers = 232>
skim.pattern @wide_window {
  %band = skim.affine_set affine_set<(q, k) : (k - q + 511 >= 0)> () : () -> !skim.set<q - k>
  skim.keep %band : !skim.set<q - k>
}
skim.attend @wide_window {query_heads = 4, kv_heads = 2, head_dim = 256, value_dim = 256, operand = bf16, out = bf16}

// Many sets, each with its own search.
// HOPPER: skim.attend @many {{.*}}tile.schedule = #tile.schedule<rows = 128, keys = 64, stages = 2, consumers = 2, producer_registers = 168, consumer_registers = 168>
skim.pattern @many {
  %a = skim.input "a" : !skim.map<head, q / 64, k / 64 : bool>
  %b = skim.input "b" : !skim.map<head, q / 64, k / 64 : bool>
  %c = skim.input "c" : !skim.map<head, q / 64, k / 64 : bool>
  %d = skim.input "d" : !skim.map<head, q / 64, k / 64 : bool>
  %sa = skim.as_set %a : !skim.map<head, q / 64, k / 64 : bool> -> !skim.set<head, q / 64, k / 64>
  %sb = skim.as_set %b : !skim.map<head, q / 64, k / 64 : bool> -> !skim.set<head, q / 64, k / 64>
  %sc = skim.as_set %c : !skim.map<head, q / 64, k / 64 : bool> -> !skim.set<head, q / 64, k / 64>
  %sd = skim.as_set %d : !skim.map<head, q / 64, k / 64 : bool> -> !skim.set<head, q / 64, k / 64>
  %ab = skim.or %sa, %sb : (!skim.set<head, q / 64, k / 64>, !skim.set<head, q / 64, k / 64>) -> !skim.set<head, q / 64, k / 64>
  %cd = skim.or %sc, %sd : (!skim.set<head, q / 64, k / 64>, !skim.set<head, q / 64, k / 64>) -> !skim.set<head, q / 64, k / 64>
  %all = skim.and %ab, %cd : (!skim.set<head, q / 64, k / 64>, !skim.set<head, q / 64, k / 64>) -> !skim.set<head, q / 64, k / 64>
  skim.keep %all : !skim.set<head, q / 64, k / 64>
}
skim.attend @many {query_heads = 4, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16}

// RUN: skim-opt %s --split-input-file --verify-diagnostics

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16>
#items = #tile.items<head = query, axis = queries>
// expected-error @+1 {{expected 'producer_registers' to be a multiple of 8 from 24 to 248 but got 0}}
hopper.kernel @kernel_c3_range attributes {problem = #problem, items = #items,
    schedule = #tile.schedule<rows = 192, keys = 64, stages = 2, consumers = 3>} {
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16>
#items = #tile.items<head = query, axis = queries>
// expected-error @+1 {{expected at most 65536 registers but got 128 * (80 + 3 * 152)}}
hopper.kernel @kernel_c3_sum attributes {problem = #problem, items = #items,
    schedule = #tile.schedule<rows = 192, keys = 64, stages = 2, consumers = 3, producer_registers = 80, consumer_registers = 152>} {
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16>
#items = #tile.items<head = query, axis = queries>
// expected-error @+1 {{expected a power of two from 32 to 128 keys where they are gathered but got 80}}
hopper.kernel @kernel_c5 attributes {problem = #problem, items = #items,
    schedule = #tile.schedule<rows = 192, keys = 80, stages = 2, consumers = 3, gather_keys = true, producer_registers = 80, consumer_registers = 144>} {
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16>
#items = #tile.items<head = query, axis = queries>
// expected-error @+1 {{expected 'copy_rows' in the schedule, or pages of a power of two of at least 8 tokens, but got pages of 4}}
hopper.kernel @kernel_c6 attributes {problem = #problem, items = #items, page_size = 4,
    schedule = #tile.schedule<rows = 192, keys = 64, stages = 2, consumers = 3, producer_registers = 80, consumer_registers = 144>} {
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16>
#items = #tile.items<head = query, axis = queries>
hopper.kernel @publish_keys_c1 attributes {problem = #problem, items = #items,
    schedule = #tile.schedule<rows = 192, keys = 64, stages = 2, consumers = 3, producer_registers = 80, consumer_registers = 144>} {
  hopper.role scheduler {
  ^bb0(%item: !tile.item):
    tile.for_each_visit %visit of %item touched [interval<lower = affine_map<(t) -> (0)>, upper = affine_map<(t) -> (t)>>] hidden [] source #tile.source<tokens> {
      // expected-error @+1 {{expected a kernel whose schedule has 'gather_keys'}}
      hopper.publish_keys %visit
      tile.yield
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16>
#items = #tile.items<head = query, axis = queries>
hopper.kernel @next_visit_c1 attributes {problem = #problem, items = #items,
    schedule = #tile.schedule<rows = 192, keys = 64, stages = 2, consumers = 3, gather_keys = true, producer_registers = 80, consumer_registers = 144>} {
  hopper.role consumer {
  ^bb0(%item: !tile.item):
    // expected-error @+1 {{expected a kernel whose schedule has no 'gather_keys'}}
    %n, %first, %count, %masked, %last, %pooled = hopper.next_visit of %item
  }
}

// -----

func.func @pooled_visit_c1(%visit: !tile.visit, %item: !tile.item) {
  // expected-error @+1 {{expected a pooled source but got #tile.source<tokens>}}
  %pooled, %means = hopper.pooled_visit %visit of %item source #tile.source<tokens>
  return
}

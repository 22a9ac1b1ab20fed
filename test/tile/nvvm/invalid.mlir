// RUN: skim-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

// The label of each case names the constraint.

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16>
#items = #tile.items<head = query, axis = queries>
// kernel_c3
// expected-error @+1 {{expected 'producer_registers' to be a multiple of 8 from 24 to 248 but got 0}}
hopper.kernel @kernel_c3_range attributes {problem = #problem, items = #items,
    schedule = #tile.schedule<rows = 192, keys = 64, stages = 2, consumers = 3>} {
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16>
#items = #tile.items<head = query, axis = queries>
// kernel_c3
// expected-error @+1 {{expected at most 65536 registers but got 128 * (80 + 3 * 152)}}
hopper.kernel @kernel_c3_sum attributes {problem = #problem, items = #items,
    schedule = #tile.schedule<rows = 192, keys = 64, stages = 2, consumers = 3, producer_registers = 80, consumer_registers = 152>} {
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16>
#items = #tile.items<head = query, axis = queries>
// kernel_c5
// expected-error @+1 {{expected a power of two from 32 to 128 keys where they are gathered but got 80}}
hopper.kernel @kernel_c5 attributes {problem = #problem, items = #items,
    schedule = #tile.schedule<rows = 192, keys = 80, stages = 2, consumers = 3, gather_keys = true, producer_registers = 80, consumer_registers = 144>} {
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16>
#items = #tile.items<head = query, axis = queries>
// kernel_c6
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

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16>
#items = #tile.items<head = query, axis = queries>
// kernel_c1
// expected-error @+1 {{expected the roles}}
hopper.kernel @kernel attributes {problem = #problem, items = #items,
    schedule = #tile.schedule<rows = 192, keys = 64, stages = 2, consumers = 3, producer_registers = 56, consumer_registers = 152>} {
  hopper.role scheduler {
  ^bb0(%item: !tile.item):
  }
  hopper.role loader {
  ^bb0(%item: !tile.item):
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16>
#items = #tile.items<head = query, axis = queries>
// kernel_c1
hopper.kernel @kernel attributes {problem = #problem, items = #items,
    schedule = #tile.schedule<rows = 192, keys = 64, stages = 2, consumers = 3, producer_registers = 56, consumer_registers = 152>} {
  hopper.role scheduler {
  ^bb0(%item: !tile.item):
  }
  hopper.role loader {
  ^bb0(%item: !tile.item):
  }
  hopper.role consumer {
  ^bb0(%item: !tile.item):
  }
  // expected-error @+1 {{cannot stand in a 'hopper.kernel' outside of its roles}}
  "test.other"() : () -> ()
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16>
#items = #tile.items<head = query, axis = queries>
// kernel_c2
// expected-error @+1 {{expected 1 to 3 consumers of 64 rows each but got 2 for 192 rows}}
hopper.kernel @kernel attributes {problem = #problem, items = #items,
    schedule = #tile.schedule<rows = 192, keys = 64, stages = 2, consumers = 2, producer_registers = 56, consumer_registers = 152>} {
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16>
#items = #tile.items<head = query, axis = queries>
// kernel_c2
// expected-error @+1 {{expected a multiple of 16 keys up to 256 but got 24}}
hopper.kernel @kernel attributes {problem = #problem, items = #items,
    schedule = #tile.schedule<rows = 192, keys = 24, stages = 2, consumers = 3, producer_registers = 56, consumer_registers = 152>} {
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16>
#items = #tile.items<head = query, axis = queries>
// kernel_c2
// expected-error @+1 {{expected a power of two of stages but got 3}}
hopper.kernel @kernel attributes {problem = #problem, items = #items,
    schedule = #tile.schedule<rows = 192, keys = 64, stages = 3, consumers = 3, producer_registers = 56, consumer_registers = 152>} {
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 256, value_dim = 256, operand = bf16, out = bf16>
#items = #tile.items<head = query, axis = queries>
// kernel_c4
// expected-error @+1 {{expected rings of at most 232448 bytes of shared memory but got}}
hopper.kernel @kernel attributes {problem = #problem, items = #items,
    schedule = #tile.schedule<rows = 128, keys = 128, stages = 2, consumers = 2, producer_registers = 72, consumer_registers = 216>} {
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16>
#items = #tile.items<head = query, axis = queries>
// kernel_c7
hopper.kernel @kernel attributes {problem = #problem, items = #items,
    schedule = #tile.schedule<rows = 192, keys = 64, stages = 2, consumers = 3, producer_registers = 56, consumer_registers = 152>} {
  hopper.role scheduler {
  ^bb0(%item: !tile.item):
  }
  hopper.role loader {
  ^bb0(%item: !tile.item):
  }
  hopper.role consumer {
  ^bb0(%item: !tile.item):
    // expected-error @+1 {{expected a tile of type}}
    %q = hopper.await_queries %item : !tile.shared<128x128xbf16, swizzle = 128>
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16>
#items = #tile.items<head = query, axis = queries>
// role_c1
hopper.kernel @kernel attributes {problem = #problem, items = #items,
    schedule = #tile.schedule<rows = 192, keys = 64, stages = 2, consumers = 3, producer_registers = 56, consumer_registers = 152>} {
  // expected-error @+1 {{expected a body with one argument of type '!tile.item' but got ()}}
  hopper.role scheduler {
  }
  hopper.role loader {
  ^bb0(%item: !tile.item):
  }
  hopper.role consumer {
  ^bb0(%item: !tile.item):
  }
}

// -----

// for_each_published_c1
func.func @arguments(%item: !tile.item) {
  // expected-error @+1 {{expected a body with arguments}}
  hopper.for_each_published of %item {
  ^bb0(%visit: !tile.visit):
    tile.yield
  }
  return
}

// -----

// for_each_published_c1
func.func @yields(%item: !tile.item, %state: !tile.state<192x128>) {
  // expected-error @+1 {{expected its body to yield ('!tile.state<192x128>')}}
  %s = hopper.for_each_published of %item carry(%state : !tile.state<192x128>) -> !tile.state<192x128> {
  ^bb0(%visit: !tile.visit, %n: i32, %s0: !tile.state<192x128>):
    tile.yield
  }
  return
}

// -----

// wait_c1
func.func @waits(%n: i32) {
  // expected-error @+1 {{operand #0 must be}}
  %w = hopper.wait %n pending 0 : i32
  return
}

// -----

func.func @pending(%p: !tile.fragment<192x64xf32>) {
  // expected-error @+1 {{attribute 'pending' failed to satisfy constraint}}
  %w = hopper.wait %p pending -1 : !tile.fragment<192x64xf32>
  return
}

// -----

// pack_c1
func.func @packs(%p: !tile.fragment<192x64xf32>) {
  // expected-error @+1 {{expected fragments of one shape, of f32 and of 16-bit elements, but got}}
  %h = hopper.pack %p : !tile.fragment<192x64xf32> -> !tile.fragment<192x32xbf16>
  return
}

// -----

func.func @outside(%item: !tile.item) {
  // expected-error @+1 {{expects parent op 'hopper.kernel'}}
  hopper.role scheduler {
  ^bb0(%other: !tile.item):
  }
  return
}

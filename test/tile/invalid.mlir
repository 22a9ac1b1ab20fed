// RUN: skim-opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect

// One fault a case; the label names the constraint.

// problem_c1
// expected-error @below {{expected a positive 'head_dim' but got 0}}
func.func private @f() attributes {p = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 0, value_dim = 64, operand = f32, out = f32>}

// -----

// problem_c2
// expected-error @below {{expected 'kv_heads' to divide 'query_heads' but got 3 and 4}}
func.func private @f() attributes {p = #tile.problem<query_heads = 4, kv_heads = 3, head_dim = 64, value_dim = 64, operand = f32, out = f32>}

// -----

// problem_c3
// expected-error @below {{expected 'operand' to be f32, bf16 or f16 but got 'f64'}}
func.func private @f() attributes {p = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f64, out = f32>}

// -----

// schedule_c1
// expected-error @below {{expected a positive 'keys' but got 0}}
func.func private @f() attributes {s = #tile.schedule<rows = 64, keys = 0>}

// -----

// expected-error @below {{expected tokens or pooled but got 'pages'}}
func.func private @f() attributes {s = #tile.source<pages>}

// -----

// expected-error @below {{expected a positive 'block' but got 0}}
func.func private @f() attributes {s = #tile.source<pooled keys = 0, values = 1, block = 0>}

// -----

// expected-error @below {{expected two dimensions but got 1}}
func.func private @f(!tile.shared<64xf32>)

// -----

// expected-error @below {{expected a swizzle of 0, 32, 64 or 128 bytes but got 48}}
func.func private @f(!tile.shared<64x64xf32, swizzle = 48>)

// -----

// expected-error @below {{expected at least one stage but got 0}}
func.func private @f(!tile.shared<64x64xf32, stages = 0>)

// -----

// expected-error @below {{expected a positive shape but got 0x64}}
func.func private @f(!tile.state<0x64>)

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>

// program_c1
// expected-error @below {{expected its body to be one 'tile.for_each_work_item'}}
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
  }
  tile.for_each_work_item %item {
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = kv, axis = keys>} {
  tile.for_each_work_item %item {
    // uniform_c1
    // expected-error @below {{'head' needs work items by query head but the program has 'head = kv'}}
    %h = tile.uniform head of %item : index
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = kv, axis = keys>} {
  tile.for_each_work_item %item {
    // uniform_c2
    // expected-error @below {{first_row needs work items with 'axis = queries' but the program has 'axis = keys'}}
    %h = tile.uniform first_row of %item : index
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = none, axis = queries>} {
  tile.for_each_work_item %item {
    // parameter_c1
    // expected-error @below {{'per_head' needs work items by query head but the program has 'head = none'}}
    %x = tile.parameter 0 per_head of %item : f32
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    // interval_c1
    // expected-error @below {{expected bounds of one dimension with at least one result but got affine_map<(d0, d1) -> (d0)>}}
    tile.for_each_visit %visit of %item touched [interval<lower = affine_map<(t, u) -> (t)>, upper = affine_map<(t) -> (t)>>] hidden [] source #tile.source<tokens> {
      tile.yield
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    // interval_c2
    // expected-error @below {{expected 'tile_guard' to have two dimensions but got 1}}
    tile.for_each_visit %visit of %item touched [interval<lower = affine_map<(t) -> (t)>, upper = affine_map<(t) -> (t)>, tile_guard = affine_set<(t) : (t >= 0)>>] hidden [] source #tile.source<tokens> {
      tile.yield
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    // interval_c3
    // expected-error @below {{expected all bounds and guards to have the same number of symbols}}
    tile.for_each_visit %visit of %item touched [interval<lower = affine_map<(t)[s] -> (t)>, upper = affine_map<(t) -> (t)>>] hidden [] source #tile.source<tokens> {
      tile.yield
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    %empty = tile.empty_state : !tile.state<64x64>
    // for_each_visit_c1
    // expected-error @below {{expected its body to yield ('!tile.state<64x64>') but got ()}}
    %s = tile.for_each_visit %visit of %item touched [] hidden [] source #tile.source<tokens> carry(%s0 = %empty) : !tile.state<64x64> {
      tile.yield
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    %empty = tile.empty_state : !tile.state<64x64>
    %s = tile.for_each_visit %visit of %item touched [] hidden [] source #tile.source<tokens> carry(%s0 = %empty) : !tile.state<64x64> {
      %other = tile.empty_state : !tile.state<64x64>
      // for_each_visit_c2
      // expected-error @below {{expected a state that descends from the one carried in its place}}
      tile.yield %other : !tile.state<64x64>
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    // for_each_visit_c3
    // expected-error @below {{expected intervals of 0 symbols but got 1}}
    tile.for_each_visit %visit of %item touched [interval<lower = affine_map<(t)[s] -> (t)>, upper = affine_map<(t)[s] -> (t)>>] hidden [] source #tile.source<tokens> {
      tile.yield
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    // for_each_visit_c3
    // expected-error @below {{names literal 2 but has 0}}
    tile.for_each_visit %visit of %item touched [interval<lower = affine_map<(t) -> (t)>, upper = affine_map<(t) -> (t)>, literals = [not 2]>] hidden [] source #tile.source<tokens> {
      tile.yield
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = none>} {
  tile.for_each_work_item %item {
    // for_each_visit_c4
    // expected-error @below {{walking visits needs work items with 'axis = queries' but the program has 'axis = none'}}
    tile.for_each_visit %visit of %item touched [] hidden [] source #tile.source<tokens> {
      tile.yield
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    // for_each_visit_c5
    // expected-error @below {{expected '#tile.interval' attributes but got 7}}
    "tile.for_each_visit"(%item) <{touched = [7], hidden = [], source = #tile.source<tokens>, operandSegmentSizes = array<i32: 1, 0, 0, 0>}> ({
    ^bb0(%visit: !tile.visit):
      tile.yield
    }) : (!tile.item) -> ()
  }
}

// -----

func.func @f(%item: !tile.item) {
  // literal_c1
  // expected-error @below {{expected its region to yield ('i1') but got ('index')}}
  %lit = tile.literal of %item cells (0, 0) {
  ^bb0(%q: index, %k: index):
    tile.yield %q : index
  } : !tile.literal
  return
}

// -----

func.func @f(%item: !tile.item) {
  // literal_c1
  // expected-error @below {{expected a region with arguments ('index', 'index') but got ('index')}}
  %lit = tile.literal of %item cells (0, 0) {
  ^bb0(%q: index):
    %true = arith.constant true
    tile.yield %true : i1
  } : !tile.literal
  return
}

// -----

func.func @f(%item: !tile.item, %memory: memref<i1>) {
  %lit = tile.literal of %item cells (0, 0) {
  ^bb0(%q: index, %k: index):
    // literal_c2
    // expected-error @below {{cannot stand in the scalar region of 'tile.literal'}}
    %b = memref.load %memory[] : memref<i1>
    tile.yield %b : i1
  } : !tile.literal
  return
}

// -----

func.func @f(%lit: !tile.literal, %i: index) {
  // literal_value_c1
  // expected-error @below {{expected the result of a 'tile.literal'}}
  %b = tile.literal_value %lit (%i, %i) : i1
  return
}

// -----

func.func @f(%i: index) {
  // contains_c1
  // expected-error @below {{expected 2 dimensions but got 1}}
  %b = tile.contains affine_set<(q, k) : (q - k >= 0)>(%i) : i1
  return
}

// -----

func.func @f(%i: index) {
  // contains_c1
  // expected-error @below {{expected 1 symbols but got 0}}
  %b = tile.contains affine_set<(q, k)[s] : (q - k - s >= 0)>(%i, %i) : i1
  return
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = keys>} {
  tile.for_each_work_item %item {
    // load_queries_c1
    // expected-error @below {{loading queries needs work items with 'axis = queries' but the program has 'axis = keys'}}
    %q = tile.load_queries %item : !tile.shared<64x64xf32>
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    // load_queries_c2
    // expected-error @below {{expected a tile of 64x64 but got 32x64}}
    %q = tile.load_queries %item : !tile.shared<32x64xf32>
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 32, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    tile.for_each_visit %visit of %item touched [] hidden [] source #tile.source<tokens> {
      // issue_load_c1
      // expected-error @below {{expected a tile of 64x32 but got 64x64}}
      %v, %t = tile.issue_load values %visit : !tile.shared<64x64xf32>
      tile.yield
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = kv, axis = queries>} {
  tile.for_each_work_item %item {
    %i = tile.uniform first_row of %item : index
    // load_cell_c1
    // expected-error @below {{an array with heads needs work items by query head but the program has 'head = kv'}}
    %b = tile.load_cell input 0 (head = query) cells (0, 1) at (%i, %i) of %item : i1
  }
}

// -----

func.func @f(%item: !tile.item, %i: index) {
  // load_cell_c2
  // expected-error @below {{expected cells of one key with 'diagonal' but got (64, 64)}}
  %b = tile.load_cell input 0 (head = query) cells (64, 64) diagonal at (%i, %i) of %item : i1
  return
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    tile.for_each_visit %visit of %item touched [] hidden [] source #tile.source<tokens> {
      // any_c3
      // expected-error @below {{expected one column of i1 with 1 or all rows of the tile but got '!tile.fragment<2x1xi1>'}}
      %any = tile.any at %visit where {
      ^bb0(%q: index, %k: index):
        %true = arith.constant true
        tile.yield %true : i1
      } : !tile.fragment<2x1xi1>
      tile.yield
    }
  }
}

// -----

func.func @f(%visit: !tile.visit, %cells: !tile.fragment<1x2xi1>) {
  // store_cell_c2
  // expected-error @below {{expected one column of i1 with 1 or all rows of the tile but got '!tile.fragment<1x2xi1>'}}
  tile.store_cell %cells at %visit to buffer 0 : !tile.fragment<1x2xi1>
  return
}

// -----

func.func @f(%visit: !tile.visit) {
  // any_c1
  // expected-error @below {{expected its region to yield ('i1') but got ('index')}}
  %any = tile.any at %visit where {
  ^bb0(%q: index, %k: index):
    tile.yield %q : index
  } : !tile.fragment<1x1xi1>
  return
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    %empty = tile.empty_state : !tile.state<32x64>
    // finish_c1
    // expected-error @below {{expected a tile of 64x64 but got 32x64}}
    tile.finish %item, %empty : !tile.state<32x64>
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = none, axis = queries>} {
  tile.for_each_work_item %item {
    %empty = tile.empty_state : !tile.state<64x64>
    // finish_c2
    // expected-error @below {{storing output needs work items by KV head but the program has 'head = none'}}
    tile.finish %item, %empty : !tile.state<64x64>
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = kv, axis = queries>} {
  tile.for_each_work_item %item {
    // load_queries_c2: 64 rows of each of two heads
    // expected-error @below {{expected a tile of 128x64 but got 64x64}}
    %queries = tile.load_queries %item : !tile.shared<64x64xf32>
  }
}

// -----

func.func @f(%q: !tile.shared<64x64xf32>, %k: !tile.shared<64x32xf32>) {
  // issue_dot_c1
  // expected-error @below {{expected queries and keys of one dimension and element type}}
  %d, %t = tile.issue_dot %q, %k : !tile.shared<64x64xf32>, !tile.shared<64x32xf32> -> !tile.fragment<64x64xf32>
  return
}

// -----

func.func @f(%q: !tile.shared<64x64xf32>, %k: !tile.shared<32x64xf32>) {
  // issue_dot_c2
  // expected-error @below {{expected scores of 64x32xf32 but got '!tile.fragment<64x64xf32>'}}
  %d, %t = tile.issue_dot %q, %k : !tile.shared<64x64xf32>, !tile.shared<32x64xf32> -> !tile.fragment<64x64xf32>
  return
}

// -----

func.func @f(%d: !tile.fragment<64x64xf32>, %visit: !tile.visit) {
  // map_scores_c1
  // expected-error @below {{expected a region with arguments ('f32', 'index', 'index') but got ('index', 'index')}}
  %e = tile.map_scores %d at %visit : !tile.fragment<64x64xf32> {
  ^bb0(%q: index, %k: index):
    %x = arith.constant 0.0 : f32
    tile.yield %x : f32
  }
  return
}

// -----

func.func @f(%d: !tile.fragment<64x64xf32>, %visit: !tile.visit) {
  // mask_c1
  // expected-error @below {{expected its region to yield ('i1') but got ('index')}}
  %m = tile.mask %d at %visit : !tile.fragment<64x64xf32> where {
  ^bb0(%q: index, %k: index):
    tile.yield %q : index
  }
  return
}

// -----

func.func @f(%d: !tile.fragment<64x64xf32>, %s: !tile.state<32x64>) {
  // online_softmax_c1
  // expected-error @below {{expected f32 scores with the rows of the state}}
  %p, %s1 = tile.online_softmax %d, %s : !tile.fragment<64x64xf32>, !tile.state<32x64>
  return
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    %queries = tile.load_queries %item : !tile.shared<64x64xf32>
    tile.for_each_visit %visit of %item touched [] hidden [] source #tile.source<tokens> {
      %keys, %kt = tile.issue_load keys %visit : !tile.shared<64x64xf32>
      %d, %dt = tile.issue_dot %queries, %keys after %kt : !tile.shared<64x64xf32>, !tile.shared<64x64xf32> -> !tile.fragment<64x64xf32>
      // mask_c3
      // expected-error @below {{expected scores without other uses}}
      %m = tile.mask %d after %dt at %visit : !tile.fragment<64x64xf32> where {
      ^bb0(%q: index, %k: index):
        %true = arith.constant true
        tile.yield %true : i1
      }
      %empty = tile.empty_state : !tile.state<64x64>
      %p, %s1 = tile.online_softmax %d, %empty : !tile.fragment<64x64xf32>, !tile.state<64x64>
      tile.yield
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    %queries = tile.load_queries %item : !tile.shared<64x64xf32>
    tile.for_each_visit %visit of %item touched [] hidden [] source #tile.source<tokens> {
      %keys, %kt = tile.issue_load keys %visit : !tile.shared<64x64xf32>
      %d, %dt = tile.issue_dot %queries, %keys after %kt : !tile.shared<64x64xf32>, !tile.shared<64x64xf32> -> !tile.fragment<64x64xf32>
      // map_scores_c3
      // expected-error @below {{expected scores without other uses}}
      %e = tile.map_scores %d after %dt at %visit : !tile.fragment<64x64xf32> {
      ^bb0(%s: f32, %q: index, %k: index):
        tile.yield %s : f32
      }
      %empty = tile.empty_state : !tile.state<64x64>
      %p, %s1 = tile.online_softmax %d, %empty : !tile.fragment<64x64xf32>, !tile.state<64x64>
      tile.yield
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    %queries = tile.load_queries %item : !tile.shared<64x64xf32>
    %empty = tile.empty_state : !tile.state<64x64>
    tile.for_each_visit %visit of %item touched [] hidden [] source #tile.source<tokens> {
      %keys, %kt = tile.issue_load keys %visit : !tile.shared<64x64xf32>
      %d, %dt = tile.issue_dot %queries, %keys after %kt : !tile.shared<64x64xf32>, !tile.shared<64x64xf32> -> !tile.fragment<64x64xf32>
      // online_softmax_c2
      // expected-error @below {{expected a state without other uses}}
      %p, %s1 = tile.online_softmax %d, %empty after %dt : !tile.fragment<64x64xf32>, !tile.state<64x64>
      tile.yield
    }
    tile.finish %item, %empty : !tile.state<64x64>
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    %queries = tile.load_queries %item : !tile.shared<64x64xf32>
    tile.for_each_visit %visit of %item touched [] hidden [] source #tile.source<tokens> {
      %keys, %kt = tile.issue_load keys %visit : !tile.shared<64x64xf32>
      %d, %dt = tile.issue_dot %queries, %keys after %kt : !tile.shared<64x64xf32>, !tile.shared<64x64xf32> -> !tile.fragment<64x64xf32>
      %empty = tile.empty_state : !tile.state<64x64>
      // accumulate_c2
      // expected-error @below {{expected probabilities and state of one 'tile.online_softmax'}}
      %s = tile.accumulate %d, %keys, %empty after %dt : !tile.fragment<64x64xf32>, !tile.shared<64x64xf32>, !tile.state<64x64>
      tile.yield
    }
  }
}

// -----

func.func @f(%p: !tile.fragment<64x64xf32>, %v: !tile.shared<32x64xf32>, %s: !tile.state<64x64>) {
  // accumulate_c1
  // expected-error @below {{expected shapes R x K, K x D and R x D}}
  %s1 = tile.accumulate %p, %v, %s : !tile.fragment<64x64xf32>, !tile.shared<32x64xf32>, !tile.state<64x64>
  return
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    // scatter_list_c1
    // expected-error @below {{expected work items with 'head = kv' but got 'query'}}
    tile.scatter_list input 0 (head = kv) cells (64, 64) to buffer 0 of %item
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = kv, axis = queries>} {
  tile.for_each_work_item %item {
    // scatter_list_c2
    // expected-error @below {{expected a schedule with 'rows = 128' but got 64}}
    tile.scatter_list input 0 (head = kv) cells (128, 64) to buffer 0 of %item
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = kv, axis = queries>} {
  tile.for_each_work_item %item {
    %n = arith.constant 3.0 : f64
    // select_c4
    // expected-error @below {{a row without a query axis needs work items with 'axis = none' but the program has 'axis = queries'}}
    tile.select top_k %n cells (0, 64) scratch 0 to buffer 1 of %item where {
    ^bb0(%q: index, %k: index):
      %x = arith.constant 0.0 : f32
      %true = arith.constant true
      tile.yield %x, %true : f32, i1
    }
  }
}

// -----

func.func @f(%item: !tile.item, %n: f64) {
  // select_c3
  // expected-error @below {{expected 'noncausal' with 'diagonal' alone}}
  tile.select top_k %n cells (0, 1) noncausal scratch 0 to buffer 1 of %item where {
  ^bb0(%q: index, %k: index):
    %x = arith.constant 0.0 : f32
    %true = arith.constant true
    tile.yield %x, %true : f32, i1
  }
  return
}

// -----

func.func @f(%item: !tile.item, %n: f64) {
  // select_c3
  // expected-error @below {{expected cells of one distance with 'diagonal' but got (0, 64)}}
  tile.select top_k %n cells (0, 64) diagonal scratch 0 to buffer 1 of %item where {
  ^bb0(%q: index, %k: index):
    %x = arith.constant 0.0 : f32
    %true = arith.constant true
    tile.yield %x, %true : f32, i1
  }
  return
}

// -----

func.func @f(%item: !tile.item, %n: f64) {
  // select_c1
  // expected-error @below {{expected its region to yield ('f32', 'i1') but got ('i1')}}
  tile.select top_k %n cells (0, 64) scratch 0 to buffer 1 of %item where {
  ^bb0(%q: index, %k: index):
    %true = arith.constant true
    tile.yield %true : i1
  }
  return
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = kv, axis = queries>} {
  tile.for_each_work_item %item {
    // pool_c1
    // expected-error @below {{pooling needs work items with 'axis = keys' but the program has 'axis = queries'}}
    tile.pool keys of %item to buffer 0
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = kv, axis = queries>} {
  // for_each_work_item_c1
  // expected-error @below {{expected a body with one argument of type '!tile.item'}}
  "tile.for_each_work_item"() ({
  ^bb0(%a: index):
  }) : () -> ()
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = kv, axis = keys>} {
  tile.for_each_work_item %item {
    %cells = "test.cells"() : () -> !tile.fragment<1x1xi1>
    %visit = "test.visit"() : () -> !tile.visit
    // store_cell_c1
    // expected-error @below {{storing cells needs work items with 'axis = queries' but the program has 'axis = keys'}}
    tile.store_cell %cells at %visit to buffer 0 : !tile.fragment<1x1xi1>
  }
}

// -----

func.func @f(%d: !tile.fragment<64x64xf32>, %visit: !tile.visit, %memory: memref<f32>) {
  %e = tile.map_scores %d at %visit : !tile.fragment<64x64xf32> {
  ^bb0(%s: f32, %q: index, %k: index):
    // map_scores_c2
    // expected-error @below {{cannot stand in the scalar region of 'tile.map_scores'}}
    %x = memref.load %memory[] : memref<f32>
    tile.yield %x : f32
  }
  return
}

// -----

func.func @f(%d: !tile.fragment<64x64xf32>, %visit: !tile.visit, %memory: memref<i1>) {
  %m = tile.mask %d at %visit : !tile.fragment<64x64xf32> where {
  ^bb0(%q: index, %k: index):
    // mask_c2
    // expected-error @below {{cannot stand in the scalar region of 'tile.mask'}}
    %b = memref.load %memory[] : memref<i1>
    tile.yield %b : i1
  }
  return
}

// -----

func.func @f(%visit: !tile.visit, %memory: memref<i1>) {
  %any = tile.any at %visit where {
  ^bb0(%q: index, %k: index):
    // any_c2
    // expected-error @below {{cannot stand in the scalar region of 'tile.any'}}
    %b = memref.load %memory[] : memref<i1>
    tile.yield %b : i1
  } : !tile.fragment<1x1xi1>
  return
}

// -----

func.func @f(%item: !tile.item, %n: f64, %memory: memref<f32>) {
  tile.select top_k %n cells (0, 64) scratch 0 to buffer 1 of %item where {
  ^bb0(%q: index, %k: index):
    // select_c2
    // expected-error @below {{cannot stand in the scalar region of 'tile.select'}}
    %x = memref.load %memory[] : memref<f32>
    %true = arith.constant true
    tile.yield %x, %true : f32, i1
  }
  return
}

// -----

tile.plan @p attributes {pattern = "p", problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>} {
  // plan_input_c1
  // expected-error @below {{expected cells of one key with 'diagonal' but got (0, 0)}}
  tile.plan_input 0 "near" : f32 (head = none) cells (0, 0) diagonal
}

// -----

tile.plan @p attributes {pattern = "p", problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>} {
  // plan_input_c2
  // expected-error @below {{expected a list in the slot before its counts}}
  tile.plan_input 0 "blocks_counts" : list_counts (head = kv) cells (64, 0)
}

// -----

tile.plan @p attributes {pattern = "p", problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>} {
  tile.plan_input 0 "blocks" : list (head = kv) cells (64, 64)
  // plan_input_c3
  // expected-error @below {{expected the heads of its list and cells (64, 0) but got cells (64, 64)}}
  tile.plan_input 1 "blocks_counts" : list_counts (head = kv) cells (64, 64)
}

// -----

func.func @f(%item: !tile.item, %i: index) {
  // load_cell_c2
  // expected-error @below {{expected 'noncausal' with 'diagonal' alone}}
  %b = tile.load_cell input 0 (head = query) cells (64, 64) noncausal at (%i, %i) of %item : i1
  return
}

// -----

func.func @f(%item: !tile.item, %i: index) {
  // load_cell_c3
  // expected-error @below {{expected an f64 to come from a buffer}}
  %b = tile.load_cell input 0 (head = query) cells (64, 64) at (%i, %i) of %item : f64
  return
}

// -----

func.func @f(%item: !tile.item, %i: index) {
  // load_cell_c3
  // expected-error @below {{expected an element of f32 but got 'i1'}}
  %b = tile.load_cell input 0 (head = query) cells (64, 64) at (%i, %i) element %i of %item : i1
  return
}

// -----

tile.plan @p attributes {pattern = "p", problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>} {
  // plan_input_c4
  // expected-error @below {{expected 'elements' with 'vec'}}
  tile.plan_input 0 "codes" : vec (head = none) cells (0, 1)
}

// -----

tile.plan @p attributes {pattern = "p", problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>} {
  // plan_input_c4
  // expected-error @below {{expected 'elements' with 'vec' alone}}
  tile.plan_input 0 "codes" : f32 (head = none) cells (0, 1) elements 64
}

// -----

tile.plan @p attributes {pattern = "p", problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>} {
  // plan_input_c5
  // expected-error @below {{expected a 'vec' with cells (0, 1) for 'weight_rows' but got cells (0, 64)}}
  tile.plan_input 0 "codes" : vec (head = none) cells (0, 64) elements 64 weight_rows 8
}

// -----

tile.plan @p attributes {pattern = "p", problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>} {
  // buffer_c1
  // expected-error @below {{expected extents with 0 dimensions, 3 symbols and 4 results but got 0, 2 and 4}}
  tile.buffer 0 "b" : f32 cell 1 extents affine_map<()[a, b] -> (1, 1, a, b)>
}

// -----

tile.plan @p attributes {pattern = "p", problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>} {
  // buffer_c2
  // expected-error @below {{expected 'per_worker' without 'zeroed'}}
  tile.buffer 0 "b" : f32 cell 1 extents affine_map<()[a, b, c] -> (1, 1, b, c)> zeroed per_worker
}

// -----

tile.plan @p attributes {pattern = "p", problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>} {
  // buffer_c2
  // expected-error @below {{expected a first extent of 1 with 'per_worker' but got affine_map}}
  tile.buffer 0 "b" : f32 cell 1 extents affine_map<()[a, b, c] -> (a, 1, b, c)> per_worker
}

// -----

tile.plan @p attributes {pattern = "p", problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>} {
  // plan_c1
  // expected-error @below {{expected parameters, inputs, buffers and launches alone in a 'tile.plan'}}
  %z = arith.constant 0 : index
}

// -----

tile.plan @p attributes {pattern = "p", problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>} {
  // plan_c2
  // expected-error @below {{expected slot 0 but got 1}}
  tile.plan_parameter 1 "window" : index
}

// -----

tile.plan @p attributes {pattern = "p", problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>} {
  tile.plan_input 0 "x" : f32 (head = none) cells (0, 1)
  // plan_c2
  // expected-error @below {{expected slot 1 but got 0}}
  tile.plan_input 0 "y" : f32 (head = none) cells (0, 1)
}

// -----

tile.plan @p attributes {pattern = "p", problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>} {
  // plan_c2
  // expected-error @below {{expected slot 0 but got 2}}
  tile.buffer 2 "b" : f32 cell 1 extents affine_map<()[a, b, c] -> (1, 1, b, c)>
}

// -----

tile.plan @p attributes {pattern = "p", problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>} {
  tile.plan_parameter 0 "window" : index
  // plan_c3
  // expected-error @below {{expected one parameter 'window' but got a second}}
  tile.plan_parameter 1 "window" : f32
}

// -----

tile.plan @p attributes {pattern = "p", problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>} {
  tile.plan_input 0 "x" : f32 (head = none) cells (0, 1)
  // plan_c3
  // expected-error @below {{expected one input 'x' but got a second}}
  tile.plan_input 1 "x" : f32 (head = none) cells (0, 1)
}

// -----

tile.plan @p attributes {pattern = "p", problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>} {
  tile.buffer 0 "b" : f32 cell 1 extents affine_map<()[a, b, c] -> (1, 1, b, c)>
  // plan_c3
  // expected-error @below {{expected one buffer 'b' but got a second}}
  tile.buffer 1 "b" : f32 cell 1 extents affine_map<()[a, b, c] -> (1, 1, b, c)>
}

// -----

tile.plan @p attributes {pattern = "p", problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>} {
  // plan_parameter_c1
  // expected-error @below {{expected one default value but got 2}}
  tile.plan_parameter 0 "window" : index default [1.0, 2.0]
}

// -----

tile.plan @p attributes {pattern = "p", problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>} {
  // plan_parameter_c1
  // expected-error @below {{expected one default value or one for each of the 4 query heads but got 3}}
  tile.plan_parameter 0 "window" per_head : index default [1.0, 2.0, 3.0]
}

// -----

tile.plan @p attributes {pattern = "p", problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>} {
  // plan_parameter_c2
  // expected-error @below {{expected no bounds of a bool}}
  tile.plan_parameter 0 "strict" : i1 least 0.0
}

// -----

tile.plan @p attributes {pattern = "p", problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>} {
  // plan_parameter_c2
  // expected-error @below {{expected 'least' up to 'most' but got 1.000000e+00 : f64 and 0.000000e+00 : f64}}
  tile.plan_parameter 0 "mass" : f32 least 1.0 most 0.0
}

// -----

tile.plan @p attributes {pattern = "p", problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>} {
  // launch_c1
  // expected-error @below {{expected the name of a 'tile.program' but got 'attention'}}
  tile.launch @attention
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = kv, axis = queries>} {
  tile.for_each_work_item %item {
    %x = tile.softmax_scale of %item : f32
    %rows = tile.reduce_panel of %item : !tile.panel<rows = 64, query = 1, elements = 64, f32> {
      tile.contribute of %item cells (1, 0) where {
      ^bb0(%q: index, %i: index):
        tile.yield %x : f32
      }
    }
    // dot_panel_c5
    // expected-error @below {{a source with heads needs work items by query head but the program has 'head = kv'}}
    %s = tile.dot_panel %rows, buffer 0 (head = query) scale %x visible all of %item : !tile.panel<rows = 64, query = 1, elements = 64, f32> -> !tile.panel<rows = 64, query = 1, key = 16, f32>
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = none, axis = queries>} {
  tile.for_each_work_item %item {
    // reduce_cells_c2
    // expected-error @below {{expected a kind where heads are joined}}
    tile.reduce_cells of %item to buffer 0 (head = none) cells (64, 64) {
      tile.for_each_head %head of %item all {
        tile.contribute of %head cells (64, 64) where {
        ^bb0(%q: index, %k: index):
          %x = arith.constant 0.0 : f32
          tile.yield %x : f32
        }
      }
    }
  }
}

// -----

// panel_c1
// expected-error @below {{expected positive 'rows' and 'query' but got 0 and 1}}
func.func private @f(!tile.panel<rows = 0, query = 1, f32>)

// -----

// panel_c1
// expected-error @below {{expected columns of 'key' or of 'elements' but got 16 and 64}}
func.func private @f(!tile.panel<rows = 64, query = 1, key = 16, elements = 64, f32>)

// -----

// panel_c2
// expected-error @below {{expected an element of f32, f64 or i1 but got 'i32'}}
func.func private @f(!tile.panel<rows = 64, query = 1, i32>)

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    // panel_c3
    // expected-error @below {{expected a panel of the item's 64 rows but got '!tile.panel<rows = 32, query = 1, elements = 64, f32>'}}
    %q = tile.load_panel of %item scratch 0 : !tile.panel<rows = 32, query = 1, elements = 64, f32>
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = keys>} {
  tile.for_each_work_item %item {
    // panel_c3
    // expected-error @below {{a panel needs work items with 'axis = queries' but the program has 'axis = keys'}}
    %q = tile.load_panel of %item scratch 0 : !tile.panel<rows = 64, query = 1, elements = 64, f32>
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = kv, axis = queries>} {
  tile.for_each_work_item %item {
    // for_each_head_c1
    // expected-error @below {{expected a body with one argument of type '!tile.item'}}
    "tile.for_each_head"(%item) ({
    ^bb0(%i: index):
    }) : (!tile.item) -> ()
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    // for_each_row_tile_c1
    // expected-error @below {{expected a body with one argument of type '!tile.item'}}
    "tile.for_each_row_tile"(%item) ({
    ^bb0(%i: index):
    }) {rows = 64 : i64} : (!tile.item) -> ()
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    // for_each_row_tile_c2
    // expected-error @below {{expected 'rows' to divide the 64 rows of the item but got 48}}
    tile.for_each_row_tile %tile of %item rows 48 {
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    // load_panel_c1
    // expected-error @below {{expected a panel with element columns of f32 and rows of one position but got '!tile.panel<rows = 64, query = 1, key = 16, f32>'}}
    %q = tile.load_panel of %item scratch 0 : !tile.panel<rows = 64, query = 1, key = 16, f32>
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    // load_panel_c1
    // expected-error @below {{expected 64 elements but got 32}}
    %q = tile.load_panel of %item scratch 0 : !tile.panel<rows = 64, query = 1, elements = 32, f32>
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = kv, axis = queries>} {
  tile.for_each_work_item %item {
    // load_panel_c2
    // expected-error @below {{loading queries needs work items by query head but the program has 'head = kv'}}
    %q = tile.load_panel of %item scratch 0 : !tile.panel<rows = 64, query = 1, elements = 64, f32>
  }
}

// -----

func.func @f(%item: !tile.item, %x: f32, %rows: !tile.panel<rows = 64, query = 1, key = 16, f32>) {
  // dot_panel_c1
  // expected-error @below {{expected a panel with element columns of f32 but got '!tile.panel<rows = 64, query = 1, key = 16, f32>'}}
  %s = tile.dot_panel %rows, buffer 1 (head = kv) scale %x visible all of %item scratch 2 : !tile.panel<rows = 64, query = 1, key = 16, f32> -> !tile.panel<rows = 64, query = 1, key = 16, f32>
  return
}

// -----

func.func @f(%item: !tile.item, %x: f32, %rows: !tile.panel<rows = 64, query = 1, elements = 64, f32>) {
  // dot_panel_c1
  // expected-error @below {{expected a panel with key columns of f32 but got '!tile.panel<rows = 64, query = 1, f32>'}}
  %s = tile.dot_panel %rows, buffer 1 (head = kv) scale %x visible all of %item scratch 2 : !tile.panel<rows = 64, query = 1, elements = 64, f32> -> !tile.panel<rows = 64, query = 1, f32>
  return
}

// -----

func.func @f(%item: !tile.item, %x: f32, %rows: !tile.panel<rows = 64, query = 1, elements = 64, f32>) {
  // dot_panel_c1
  // expected-error @below {{expected panels of the same rows but got '!tile.panel<rows = 64, query = 1, elements = 64, f32>' and '!tile.panel<rows = 32, query = 2, key = 16, f32>'}}
  %s = tile.dot_panel %rows, buffer 1 (head = kv) scale %x visible all of %item scratch 2 : !tile.panel<rows = 64, query = 1, elements = 64, f32> -> !tile.panel<rows = 32, query = 2, key = 16, f32>
  return
}

// -----

func.func @f(%item: !tile.item, %x: f32, %rows: !tile.panel<rows = 64, query = 1, elements = 64, f32>) {
  // dot_panel_c2
  // expected-error @below {{expected 'head = kv' and one key a column with tokens but got 'head = kv' and '!tile.panel<rows = 64, query = 1, key = 16, f32>'}}
  %s = tile.dot_panel %rows, keys (head = kv) scale %x visible all of %item scratch 2 : !tile.panel<rows = 64, query = 1, elements = 64, f32> -> !tile.panel<rows = 64, query = 1, key = 16, f32>
  return
}

// -----

func.func @f(%item: !tile.item, %x: f32, %rows: !tile.panel<rows = 64, query = 1, elements = 64, f32>) {
  // dot_panel_c2
  // expected-error @below {{expected 'head = kv' and one key a column with tokens but got 'head = none' and '!tile.panel<rows = 64, query = 1, key = 1, f32>'}}
  %s = tile.dot_panel %rows, keys (head = none) scale %x visible all of %item scratch 2 : !tile.panel<rows = 64, query = 1, elements = 64, f32> -> !tile.panel<rows = 64, query = 1, key = 1, f32>
  return
}

// -----

func.func @f(%item: !tile.item, %x: f32, %rows: !tile.panel<rows = 64, query = 1, elements = 64, f32>) {
  // dot_panel_c3
  // expected-error @below {{expected keys, values or a buffer with its slot}}
  %s = tile.dot_panel %rows, queries (head = kv) scale %x visible all of %item scratch 2 : !tile.panel<rows = 64, query = 1, elements = 64, f32> -> !tile.panel<rows = 64, query = 1, key = 1, f32>
  return
}

// -----

func.func @f(%item: !tile.item, %x: f32, %rows: !tile.panel<rows = 64, query = 1, elements = 64, f32>) {
  // expected-error @below {{expected keys, values or buffer but got 'pages'}}
  %s = tile.dot_panel %rows, pages (head = kv) scale %x visible all of %item scratch 2 : !tile.panel<rows = 64, query = 1, elements = 64, f32> -> !tile.panel<rows = 64, query = 1, key = 1, f32>
  return
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    // reduce_panel_c1
    // expected-error @below {{expected one 'tile.contribute' in its body}}
    %p = tile.reduce_panel sum of %item scratch 0 accumulators 1 : !tile.panel<rows = 64, query = 1, f32> {
      %z = arith.constant 0 : index
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    %p = tile.reduce_panel sum of %item scratch 0 accumulators 1 : !tile.panel<rows = 64, query = 1, f32> {
      tile.contribute of %item cells (1, 16) where {
      ^bb0(%q: index, %k: index):
        %x = arith.constant 0.0 : f32
        tile.yield %x : f32
      }
      // reduce_panel_c1
      // expected-error @below {{cannot stand here in a 'tile.reduce_panel'}}
      tile.contribute of %item cells (1, 16) where {
      ^bb0(%q: index, %k: index):
        %x = arith.constant 0.0 : f32
        tile.yield %x : f32
      }
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    %p = tile.reduce_panel sum of %item scratch 0 accumulators 1 : !tile.panel<rows = 64, query = 1, f32> {
      // reduce_panel_c2
      // expected-error @below {{expected cells that refine (1, 0) but got (64, 1)}}
      tile.contribute of %item cells (64, 1) where {
      ^bb0(%q: index, %k: index):
        %x = arith.constant 0.0 : f32
        tile.yield %x : f32
      }
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    %p = tile.reduce_panel of %item scratch 0 : !tile.panel<rows = 64, query = 1, key = 16, f32> {
      // reduce_panel_c2
      // expected-error @below {{expected cells that equal (1, 16) but got (1, 1)}}
      tile.contribute of %item cells (1, 1) where {
      ^bb0(%q: index, %k: index):
        %x = arith.constant 0.0 : f32
        tile.yield %x : f32
      }
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = kv, axis = queries>} {
  tile.for_each_work_item %item {
    // reduce_panel_c2
    // expected-error @below {{expected a kind where heads are joined}}
    %p = tile.reduce_panel of %item scratch 0 : !tile.panel<rows = 64, query = 1, key = 16, f32> {
      tile.for_each_head %head of %item {
        tile.contribute of %head cells (1, 16) where {
        ^bb0(%q: index, %k: index):
          %x = arith.constant 0.0 : f32
          tile.yield %x : f32
        }
      }
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    %p = tile.reduce_panel sum of %item scratch 0 accumulators 1 : !tile.panel<rows = 64, query = 1, f32> {
      // reduce_panel_c5
      // expected-error @below {{expected no distances and no elements in a panel}}
      tile.contribute of %item cells (1, 1) diagonal where {
      ^bb0(%q: index, %k: index):
        %x = arith.constant 0.0 : f32
        tile.yield %x : f32
      }
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    %p = tile.reduce_panel sum of %item scratch 0 accumulators 1 : !tile.panel<rows = 64, query = 1, elements = 64, f32> {
      // reduce_panel_c5
      // expected-error @below {{expected no key axis with element columns but got cells of 1 keys}}
      tile.contribute of %item cells (1, 1) where {
      ^bb0(%q: index, %k: index):
        %x = arith.constant 0.0 : f32
        tile.yield %x : f32
      }
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    // reduce_panel_c3
    // expected-error @below {{expected 'accumulators' with a kind alone}}
    %p = tile.reduce_panel of %item scratch 0 accumulators 1 : !tile.panel<rows = 64, query = 1, f32> {
      tile.contribute of %item cells (1, 16) where {
      ^bb0(%q: index, %k: index):
        %x = arith.constant 0.0 : f32
        tile.yield %x : f32
      }
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    // reduce_panel_c4
    // expected-error @below {{expected a panel of f32 or f64 but got '!tile.panel<rows = 64, query = 1, i1>'}}
    %p = tile.reduce_panel sum of %item scratch 0 accumulators 1 : !tile.panel<rows = 64, query = 1, i1> {
      tile.contribute of %item cells (1, 16) where {
      ^bb0(%q: index, %k: index):
        %x = arith.constant 0.0 : f32
        tile.yield %x : f32
      }
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    %p = tile.reduce_panel sum of %item scratch 0 accumulators 1 : !tile.panel<rows = 64, query = 1, f64> {
      // contribute_c1
      // expected-error @below {{expected its region to yield 'f64' but got 'f32'}}
      tile.contribute of %item cells (1, 16) where {
      ^bb0(%q: index, %k: index):
        %x = arith.constant 0.0 : f32
        tile.yield %x : f32
      }
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    %p = tile.reduce_panel sum of %item scratch 0 accumulators 1 : !tile.panel<rows = 64, query = 1, f32> {
      // contribute_c1
      // expected-error @below {{expected a region with arguments ('index', 'index') but got ('index')}}
      tile.contribute of %item cells (1, 16) where {
      ^bb0(%q: index):
        %x = arith.constant 0.0 : f32
        tile.yield %x : f32
      }
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    %p = tile.reduce_panel sum of %item scratch 0 accumulators 1 : !tile.panel<rows = 64, query = 1, f32> {
      tile.contribute of %item cells (1, 16) where {
      ^bb0(%q: index, %k: index):
        // contribute_c2
        // expected-error @below {{cannot stand in the scalar region of 'tile.contribute'}}
        %y = tile.empty_state : !tile.state<64x64>
        %x = arith.constant 0.0 : f32
        tile.yield %x : f32
      }
    }
  }
}

// -----

func.func @f(%item: !tile.item) {
  // contribute_c3
  // expected-error @below {{expected to stand in a 'tile.reduce_panel' or 'tile.reduce_cells'}}
  tile.contribute of %item cells (1, 16) where {
  ^bb0(%q: index, %k: index):
    %x = arith.constant 0.0 : f32
    tile.yield %x : f32
  }

  return
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    tile.reduce_cells sum of %item to buffer 0 (head = query) cells (64, 1) diagonal accumulators 1 {
      // contribute_c4
      // expected-error @below {{expected distances of one key but got cells of 4}}
      tile.contribute of %item cells (64, 4) diagonal where {
      ^bb0(%q: index, %k: index):
        %x = arith.constant 0.0 : f32
        tile.yield %x : f32
      }
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    // reduce_cells_c1
    // expected-error @below {{expected one 'tile.contribute' in its body}}
    tile.reduce_cells sum of %item to buffer 0 (head = query) cells (64, 64) accumulators 1 {
      %z = arith.constant 0 : index
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    tile.reduce_cells sum of %item to buffer 0 (head = query) cells (64, 64) accumulators 1 {
      // reduce_cells_c2
      // expected-error @below {{expected cells that refine (64, 64) but got (64, 48)}}
      tile.contribute of %item cells (64, 48) where {
      ^bb0(%q: index, %k: index):
        %x = arith.constant 0.0 : f32
        tile.yield %x : f32
      }
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    tile.reduce_cells of %item to buffer 0 (head = query) cells (64, 64) {
      // reduce_cells_c2
      // expected-error @below {{expected cells that equal (64, 64) but got (1, 64)}}
      tile.contribute of %item cells (1, 64) where {
      ^bb0(%q: index, %k: index):
        %x = arith.constant 0.0 : f32
        tile.yield %x : f32
      }
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    tile.reduce_cells sum of %item to buffer 0 (head = query) cells (64, 64) accumulators 1 {
      // reduce_cells_c7
      // expected-error @below {{expected the elements of the result}}
      tile.contribute of %item cells (1, 64) elements 64 where {
      ^bb0(%q: index, %k: index, %i: index):
        %x = arith.constant 0.0 : f32
        tile.yield %x : f32
      }
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    tile.reduce_cells of %item to buffer 0 (head = query) cells (64, 64) elements 64 {
      // reduce_cells_c7
      // expected-error @below {{expected elements of f32 but got 'f64'}}
      tile.contribute of %item cells (64, 64) elements 64 where {
      ^bb0(%q: index, %k: index, %i: index):
        %x = arith.constant 0.0 : f64
        tile.yield %x : f64
      }
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    tile.reduce_cells sum of %item to buffer 0 (head = query) cells (64, 64) accumulators 1 {
      // reduce_cells_c3
      // expected-error @below {{expected distances in a result over distances or without key axis}}
      tile.contribute of %item cells (64, 1) diagonal where {
      ^bb0(%q: index, %k: index):
        %x = arith.constant 0.0 : f32
        tile.yield %x : f32
      }
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    tile.reduce_cells sum of %item to buffer 0 (head = query) cells (64, 1) diagonal accumulators 1 {
      // reduce_cells_c3
      // expected-error @below {{expected a reduction of single pairs, or distances, into cells of one distance}}
      tile.contribute of %item cells (64, 1) where {
      ^bb0(%q: index, %k: index):
        %x = arith.constant 0.0 : f32
        tile.yield %x : f32
      }
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    // reduce_cells_c4
    // expected-error @below {{expected 'accumulators' with a kind alone}}
    tile.reduce_cells of %item to buffer 0 (head = query) cells (64, 64) accumulators 1 {
      tile.contribute of %item cells (64, 64) where {
      ^bb0(%q: index, %k: index):
        %x = arith.constant 0.0 : f32
        tile.yield %x : f32
      }
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = kv, axis = queries>} {
  tile.for_each_work_item %item {
    // reduce_cells_c5
    // expected-error @below {{a buffer with heads needs work items by query head but the program has 'head = kv'}}
    tile.reduce_cells sum of %item to buffer 0 (head = query) cells (64, 64) accumulators 1 {
      tile.contribute of %item cells (64, 64) where {
      ^bb0(%q: index, %k: index):
        %x = arith.constant 0.0 : f32
        tile.yield %x : f32
      }
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    // reduce_cells_c5
    // expected-error @below {{expected cells that divide the item's tiles of 64 rows and 0 keys but got (48, 64)}}
    tile.reduce_cells sum of %item to buffer 0 (head = query) cells (48, 64) accumulators 1 {
      tile.contribute of %item cells (48, 64) where {
      ^bb0(%q: index, %k: index):
        %x = arith.constant 0.0 : f32
        tile.yield %x : f32
      }
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    // reduce_cells_c6
    // expected-error @below {{expected a cell to belong to one item, but items run along an axis that the buffer does not have}}
    tile.reduce_cells sum of %item to buffer 0 (head = query) cells (0, 64) accumulators 1 {
      tile.contribute of %item cells (64, 64) where {
      ^bb0(%q: index, %k: index):
        %x = arith.constant 0.0 : f32
        tile.yield %x : f32
      }
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    // reduce_cells_c6
    // expected-error @below {{expected a cell to belong to one item, but items run along an axis that the buffer does not have}}
    tile.reduce_cells sum of %item to buffer 0 (head = kv) cells (64, 64) accumulators 1 {
      tile.contribute of %item cells (64, 64) where {
      ^bb0(%q: index, %k: index):
        %x = arith.constant 0.0 : f32
        tile.yield %x : f32
      }
    }
  }
}

// -----

func.func @f(%item: !tile.item, %n: index, %s: !tile.panel<rows = 64, query = 1, f32>) {
  // smooth_panel_c1
  // expected-error @below {{expected a panel with key columns of f32 but got '!tile.panel<rows = 64, query = 1, f32>'}}
  %t = tile.smooth_panel %s, %n of %item scratch 3 : !tile.panel<rows = 64, query = 1, f32>
  return
}

// -----

func.func @f(%item: !tile.item, %n: f64) {
  // select_panel_c1
  // expected-error @below {{expected its region to yield ('f32') but got ('index')}}
  %c = tile.select_panel top_k %n of %item scratch 3 row 4 : !tile.panel<rows = 64, query = 1, key = 1, i1> where {
  ^bb0(%q: index, %k: index):
    tile.yield %q : index
  }
  return
}

// -----

func.func @f(%item: !tile.item, %n: f64) {
  %c = tile.select_panel top_k %n of %item scratch 3 row 4 : !tile.panel<rows = 64, query = 1, key = 1, i1> where {
  ^bb0(%q: index, %k: index):
    // select_panel_c2
    // expected-error @below {{cannot stand in the scalar region of 'tile.select_panel'}}
    %y = tile.empty_state : !tile.state<64x64>
    %x = arith.constant 0.0 : f32
    tile.yield %x : f32
  }
  return
}

// -----

func.func @f(%item: !tile.item, %n: f64) {
  // select_panel_c3
  // expected-error @below {{expected a panel with key columns of i1 but got '!tile.panel<rows = 64, query = 1, key = 1, f32>'}}
  %c = tile.select_panel top_k %n of %item scratch 3 row 4 : !tile.panel<rows = 64, query = 1, key = 1, f32> where {
  ^bb0(%q: index, %k: index):
    %x = arith.constant 0.0 : f32
    tile.yield %x : f32
  }
  return
}

// -----

func.func @f(%i: index, %s: !tile.panel<rows = 64, query = 1, key = 16, f32>) {
  // panel_value_c1
  // expected-error @below {{expected a result of 'f32' but got 'i1'}}
  %x = tile.panel_value %s (%i, %i) : !tile.panel<rows = 64, query = 1, key = 16, f32> -> i1
  return
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = kv, axis = queries>} {
  tile.for_each_work_item %item {
    %i = arith.constant 0 : index
    // load_element_c1
    // expected-error @below {{queries needs work items by query head but the program has 'head = kv'}}
    %x = tile.load_element queries of %item at (%i, %i) : f32
  }
}

// -----

func.func @f(%item: !tile.item, %i: index) {
  // load_element_c1
  // expected-error @below {{expected queries, keys or values but got buffer}}
  %x = tile.load_element buffer of %item at (%i, %i) : f32
  return
}

// -----

func.func @f() {
  // reduce_elements_c1
  // expected-error @below {{expected sum or max but got mean}}
  %s = tile.reduce_elements mean 64 {
  ^bb0(%i: index):
    %x = arith.constant 0.0 : f32
    tile.yield %x : f32
  } : f32
  return
}

// -----

func.func @f() {
  // reduce_elements_c1
  // expected-error @below {{expected a region with arguments ('index') but got ('f32')}}
  %s = tile.reduce_elements sum 64 {
  ^bb0(%i: f32):
    %x = arith.constant 0.0 : f32
    tile.yield %x : f32
  } : f32
  return
}

// -----

func.func @f(%n: index) {
  // reduce_positions_c1
  // expected-error @below {{expected a region with arguments ('index', 'index') but got ('index')}}
  %s = tile.reduce_positions sum rows %n keys %n {
  ^bb0(%i: index):
    %x = arith.constant 0.0 : f32
    tile.yield %x : f32
  } : f32
  return
}

// -----

func.func @f(%n: index) {
  %s = tile.reduce_positions sum rows %n keys %n {
  ^bb0(%i: index, %j: index):
    // reduce_positions_c2
    // expected-error @below {{cannot stand in the scalar region of 'tile.reduce_positions'}}
    %y = tile.empty_state : !tile.state<64x64>
    %x = arith.constant 0.0 : f32
    tile.yield %x : f32
  } : f32
  return
}

// -----

func.func @f(%item: !tile.item, %n: index) {
  // reduce_positions_c3
  // expected-error @below {{expected an item and which heads of it, or neither}}
  %s = "tile.reduce_positions"(%item, %n, %n) <{kind = 0 : i32}> ({
  ^bb0(%sub: !tile.item, %i: index, %j: index):
    %x = arith.constant 0.0 : f32
    tile.yield %x : f32
  }) : (!tile.item, index, index) -> f32
  return
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = none, axis = queries>} {
  tile.for_each_work_item %item {
    %n = arith.constant 1 : index
    // reduce_positions_c3
    // expected-error @below {{a group needs work items by KV head but the program has 'head = none'}}
    %s = tile.reduce_positions sum over group of %item rows %n keys %n {
    ^bb0(%sub: !tile.item, %i: index, %j: index):
      %x = arith.constant 0.0 : f32
      tile.yield %x : f32
    } : f32
  }
}

// -----

func.func @f(%item: !tile.item, %n: index) {
  // reduce_positions_c1
  // expected-error @below {{expected a region with arguments ('!tile.item', 'index', 'index') but got ('index', 'index')}}
  %s = tile.reduce_positions sum over all of %item rows %n keys %n {
  ^bb0(%i: index, %j: index):
    %x = arith.constant 0.0 : f32
    tile.yield %x : f32
  } : f32
  return
}

// -----

func.func @f(%item: !tile.item) {
  // stack_panels_c1
  // expected-error @below {{expected a body with one argument of type '!tile.item'}}
  %s = "tile.stack_panels"(%item) ({
  ^bb0(%sub: index):
    %x = tile.load_panel of %item : !tile.panel<rows = 64, query = 1, elements = 64, f32>
    tile.yield %x : !tile.panel<rows = 64, query = 1, elements = 64, f32>
  }) : (!tile.item) -> !tile.panel<rows = 64, query = 1, elements = 64, f32>
  return
}

// -----

func.func @f(%item: !tile.item) {
  // stack_panels_c2
  // expected-error @below {{expected its body to yield ('!tile.panel<rows = 64, query = 1, key = 1, f32>')}}
  %s = tile.stack_panels %sub of %item all : !tile.panel<rows = 64, query = 1, key = 1, f32> {
    %x = tile.load_panel of %sub : !tile.panel<rows = 64, query = 1, elements = 64, f32>
    tile.yield %x : !tile.panel<rows = 64, query = 1, elements = 64, f32>
  }
  return
}

// -----

func.func @f(%item: !tile.item) {
  // stack_panels_c3
  // expected-error @below {{expected a buffer for each of 1 stacks but got 2}}
  %s = tile.stack_panels %sub of %item all : !tile.panel<rows = 64, query = 1, elements = 64, f32> attributes {scratch = array<i64: 1, 2>} {
    %x = tile.load_panel of %sub : !tile.panel<rows = 64, query = 1, elements = 64, f32>
    tile.yield %x : !tile.panel<rows = 64, query = 1, elements = 64, f32>
  }
  return
}

// -----

func.func @f(%item: !tile.item, %i: index) {
  %x = tile.load_panel of %item : !tile.panel<rows = 64, query = 1, elements = 64, f32>
  // panel_value_c2
  // expected-error @below {{expected a stack of panels where it names an item}}
  %y = tile.panel_value %x of %item (%i, %i) : !tile.panel<rows = 64, query = 1, elements = 64, f32> -> f32
  return
}

// -----

func.func @f(%item: !tile.item, %i: index) {
  %s = tile.stack_panels %sub of %item all : !tile.panel<rows = 64, query = 1, elements = 64, f32> {
    %x = tile.load_panel of %sub : !tile.panel<rows = 64, query = 1, elements = 64, f32>
    tile.yield %x : !tile.panel<rows = 64, query = 1, elements = 64, f32>
  }
  // panel_value_c2
  // expected-error @below {{expected the item of a head, of which it reads a stack}}
  %y = tile.panel_value %s (%i, %i) : !tile.panel<rows = 64, query = 1, elements = 64, f32> -> f32
  return
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    tile.reduce_cells sum of %item to buffer 0 (head = query) cells (64, 1) accumulators 1 {
      // reduce_cells_c1
      // expected-error @below {{expected 2 'tile.contribute' in the innermost place of its body but got 1}}
      tile.reduce_cells sum of %item to buffer 2 (head = query) cells (64, 1) accumulators 3 {
        tile.contribute of %item cells (64, 1) where {
        ^bb0(%q: index, %k: index):
          %x = arith.constant 0.0 : f32
          tile.yield %x : f32
        }
      }
    }
  }
}

// -----

func.func @f() {
  %s = tile.reduce_elements sum 64 {
  ^bb0(%i: index):
    // reduce_elements_c2
    // expected-error @below {{cannot stand in the scalar region of 'tile.reduce_elements'}}
    %y = tile.empty_state : !tile.state<64x64>
    %x = arith.constant 0.0 : f32
    tile.yield %x : f32
  } : f32
  return
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 32, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    %x = arith.constant 1.0 : f32
    %rows = tile.load_panel of %item scratch 0 : !tile.panel<rows = 64, query = 1, elements = 64, f32>
    // dot_panel_c4
    // expected-error @below {{expected rows of 32 elements but got '!tile.panel<rows = 64, query = 1, elements = 64, f32>'}}
    %s = tile.dot_panel %rows, values (head = kv) scale %x visible all of %item scratch 2 : !tile.panel<rows = 64, query = 1, elements = 64, f32> -> !tile.panel<rows = 64, query = 1, key = 1, f32>
  }
}

// -----

func.func @f(%item: !tile.item) {
  // store_positions_c1
  // expected-error @below {{expected its region to yield ('i1') but got ('index')}}
  tile.store_positions of %item cells 16 where {
  ^bb0(%q: index, %k: index):
    tile.yield %k : index
  }
  return
}

// -----

func.func @f(%item: !tile.item) {
  tile.store_positions of %item cells 16 where {
  ^bb0(%q: index, %k: index):
    // store_positions_c2
    // expected-error @below {{cannot stand in the scalar region of 'tile.store_positions'}}
    %y = tile.empty_state : !tile.state<64x64>
    %true = arith.constant true
    tile.yield %true : i1
  }
  return
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = kv, axis = queries>} {
  tile.for_each_work_item %item {
    // store_positions_c3
    // expected-error @below {{a row of positions needs work items with 'axis = none' but the program has 'axis = queries'}}
    tile.store_positions of %item cells 16 where {
    ^bb0(%q: index, %k: index):
      %true = arith.constant true
      tile.yield %true : i1
    }
  }
}

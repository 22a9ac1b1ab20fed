// RUN: skim-opt -split-input-file %s | skim-opt -split-input-file | FileCheck %s

// The example of each operation's documentation, in programs that hold together.

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = f32>

// CHECK-DAG: #[[ZERO:.*]] = affine_map<(d0)[s0, s1] -> (0)>
// CHECK-DAG: #[[CAUSAL:.*]] = affine_map<(d0)[s0, s1] -> (d0 + 1, s0 ceildiv 64)>
// CHECK-DAG: #[[T:.*]] = affine_map<(d0)[s0, s1] -> (d0)>
// CHECK-DAG: #[[NEXT:.*]] = affine_map<(d0)[s0, s1] -> (d0 + 1)>
// CHECK-DAG: #[[GUARD:.*]] = affine_set<(d0)[s0, s1] : (d0 >= 0)>
// CHECK-DAG: #[[EVEN:.*]] = affine_set<(d0, d1)[s0, s1] : (d1 mod 2 == 0)>
// CHECK-DAG: #[[WINDOW:.*]] = affine_set<(d0, d1)[s0] : (-d0 + s0 + d1 - 1 >= 0)>

// CHECK-LABEL: tile.program @attention attributes
// CHECK-SAME: items = #tile.items<head = query, axis = queries>
// CHECK-SAME: problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = f32>
// CHECK-SAME: schedule = #tile.schedule<rows = 64, keys = 64>
tile.program @attention attributes {
    problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>,
    items = #tile.items<head = query, axis = queries>} {
  // CHECK: tile.for_each_work_item %[[ITEM:.*]] {
  tile.for_each_work_item %item {
    // CHECK: %[[KV_LEN:.*]] = tile.uniform kv_len of %[[ITEM]] : index
    %kv_len = tile.uniform kv_len of %item : index
    // CHECK: tile.parameter 1 of %[[ITEM]] : index
    %window = tile.parameter 1 of %item : index
    // CHECK: tile.parameter 2 per_head of %[[ITEM]] : f32
    %weight = tile.parameter 2 per_head of %item : f32
    // CHECK: %[[LIT:.*]] = tile.literal of %[[ITEM]] cells(128, 128)
    %lit = tile.literal of %item cells (128, 128) {
    ^bb0(%q: index, %k: index):
      // CHECK: tile.load_cell input 0(head = query) cells(128, 128) at(%{{.*}}, %{{.*}}) of %[[ITEM]] : i1
      %b = tile.load_cell input 0 (head = query) cells (128, 128) at (%q, %k) of %item : i1
      tile.yield %b : i1
    } : !tile.literal
    // CHECK: tile.load_queries %[[ITEM]] : !tile.shared<64x128xf32>
    %queries = tile.load_queries %item : !tile.shared<64x128xf32>
    // CHECK: tile.empty_state : !tile.state<64x128>
    %empty = tile.empty_state : !tile.state<64x128>
    // CHECK: tile.for_each_visit %[[VISIT:.*]] of %[[ITEM]] symbols(%[[KV_LEN]], %{{.*}}) literals(%[[LIT]])
    // CHECK-SAME: touched [interval<lower = #[[ZERO]], upper = #[[CAUSAL]], literals = [0]>]
    // CHECK-SAME: hidden [interval<lower = #[[T]], upper = #[[NEXT]], guard = #[[GUARD]], tile_guard = #[[EVEN]], literals = [not 0]>]
    // CHECK-SAME: source #tile.source<tokens> carry(%{{.*}} = %{{.*}}) : !tile.state<64x128>
    %state = tile.for_each_visit %visit of %item symbols(%kv_len, %window) literals(%lit)
        touched [interval<lower = affine_map<(t)[s0, s1] -> (0)>, upper = affine_map<(t)[s0, s1] -> (t + 1, s0 ceildiv 64)>, literals = [0]>]
        hidden [interval<lower = affine_map<(t)[s0, s1] -> (t)>, upper = affine_map<(t)[s0, s1] -> (t + 1)>,
                guard = affine_set<(t)[s0, s1] : (t >= 0)>, tile_guard = affine_set<(t, u)[s0, s1] : (u mod 2 == 0)>, literals = [not 0]>]
        source #tile.source<tokens> carry(%s = %empty) : !tile.state<64x128> {
      // CHECK: %[[KEYS:.*]], %[[LOADED:.*]] = tile.issue_load keys %[[VISIT]] : !tile.shared<64x128xf32>
      %keys, %kt = tile.issue_load keys %visit : !tile.shared<64x128xf32>
      // CHECK: tile.issue_dot %{{.*}}, %[[KEYS]] after %[[LOADED]] : !tile.shared<64x128xf32>, !tile.shared<64x128xf32> -> !tile.fragment<64x64xf32>
      %d, %dt = tile.issue_dot %queries, %keys after %kt : !tile.shared<64x128xf32>, !tile.shared<64x128xf32> -> !tile.fragment<64x64xf32>
      // CHECK: tile.map_scores %{{.*}} after %{{.*}} at %[[VISIT]] : !tile.fragment<64x64xf32> {
      %e = tile.map_scores %d after %dt at %visit : !tile.fragment<64x64xf32> {
      ^bb0(%x: f32, %q: index, %k: index):
        %y = math.tanh %x : f32
        tile.yield %y : f32
      }
      // CHECK: tile.mask %{{.*}} at %[[VISIT]] : !tile.fragment<64x64xf32> where {
      %m = tile.mask %e at %visit : !tile.fragment<64x64xf32> where {
      ^bb0(%q: index, %k: index):
        // CHECK: tile.contains #[[WINDOW]](%{{.*}}, %{{.*}}) [%{{.*}}] : i1
        %a = tile.contains affine_set<(q, k)[s0] : (s0 - q + k - 1 >= 0)>(%q, %k)[%window] : i1
        // CHECK: tile.literal_value %[[LIT]](%{{.*}}, %{{.*}}) : i1
        %l = tile.literal_value %lit (%q, %k) : i1
        %b = arith.andi %a, %l : i1
        tile.yield %b : i1
      }
      // CHECK: tile.online_softmax %{{.*}}, %{{.*}} : !tile.fragment<64x64xf32>, !tile.state<64x128>
      %p, %s1 = tile.online_softmax %m, %s : !tile.fragment<64x64xf32>, !tile.state<64x128>
      // CHECK: tile.issue_load values
      %values, %vt = tile.issue_load values %visit : !tile.shared<64x128xf32>
      // CHECK: tile.accumulate %{{.*}}, %{{.*}}, %{{.*}} after %{{.*}} : !tile.fragment<64x64xf32>, !tile.shared<64x128xf32>, !tile.state<64x128>
      %s2 = tile.accumulate %p, %values, %s1 after %vt : !tile.fragment<64x64xf32>, !tile.shared<64x128xf32>, !tile.state<64x128>
      // CHECK: tile.yield %{{.*}} : !tile.state<64x128>
      tile.yield %s2 : !tile.state<64x128>
    }
    // CHECK: tile.finish %[[ITEM]], %{{.*}} sink(%{{.*}}) : !tile.state<64x128>
    tile.finish %item, %state sink(%weight) : !tile.state<64x128>
  }
}

// -----

// Kernels before attention.

#small = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>

// CHECK-LABEL: tile.program @cover
tile.program @cover attributes {problem = #small, schedule = #tile.schedule<rows = 64, keys = 128>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    // CHECK: %[[FIRST:.*]] = tile.uniform first_row of %{{.*}} : index
    %first = tile.uniform first_row of %item : index
    %zero = arith.constant 0 : index
    %negative = arith.cmpi slt, %first, %zero : index
    // CHECK: tile.raise_status unlisted_label if %{{.*}} of %{{.*}}
    tile.raise_status unlisted_label if %negative of %item
    tile.for_each_visit %visit of %item
        touched [interval<lower = affine_map<(t) -> (0)>, upper = affine_map<(t) -> (t + 1)>>] hidden []
        source #tile.source<tokens> {
      // CHECK: %[[ANY:.*]] = tile.any at %{{.*}} where {
      %any = tile.any at %visit where {
      ^bb0(%q: index, %k: index):
        // CHECK: tile.load_cell input 0(head = none) cells(1, 1)
        %b = tile.load_cell input 0 (head = none) cells (1, 1) at (%q, %k) of %item : i1
        tile.yield %b : i1
      } : !tile.fragment<1x1xi1>
      // CHECK: tile.store_cell %[[ANY]] at %{{.*}} to buffer 0 : !tile.fragment<1x1xi1>
      tile.store_cell %any at %visit to buffer 0 : !tile.fragment<1x1xi1>
      tile.yield
    }
  }
}

// -----

#small = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>

// CHECK-LABEL: tile.program @list
tile.program @list attributes {problem = #small, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = kv, axis = queries>} {
  tile.for_each_work_item %item {
    // CHECK: tile.scatter_list input 0 counts 1(head = kv) cells(64, 64) to buffer 2 of %{{.*}}
    tile.scatter_list input 0 counts 1 (head = kv) cells (64, 64) to buffer 2 of %item
  }
}

// -----

#small = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>

// CHECK-LABEL: tile.program @tokens
tile.program @tokens attributes {problem = #small, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = kv, axis = none>} {
  tile.for_each_work_item %item {
    %n = arith.constant 64.0 : f64
    // CHECK: tile.select top_k %{{.*}} cells(0, 1) scratch 1 to buffer 0 of %{{.*}} where {
    tile.select top_k %n cells (0, 1) scratch 1 to buffer 0 of %item where {
    ^bb0(%q: index, %k: index):
      %x = tile.load_cell input 0 (head = kv) cells (0, 1) at (%q, %k) of %item : f32
      %true = arith.constant true
      tile.yield %x, %true : f32, i1
    }
    // CHECK: tile.select top_p %{{.*}} cells(0, 1) diagonal scratch 1 to buffer 2
    tile.select top_p %n cells (0, 1) diagonal scratch 1 to buffer 2 of %item where {
    ^bb0(%q: index, %distance: index):
      %x = tile.load_cell buffer 3 (head = none) cells (0, 1) at (%q, %distance) of %item : f32
      %true = arith.constant true
      tile.yield %x, %true : f32, i1
    }
    // CHECK: tile.select top_k %{{.*}} cells(0, 1) diagonal noncausal scratch 1 to buffer 2
    tile.select top_k %n cells (0, 1) diagonal noncausal scratch 1 to buffer 2 of %item where {
    ^bb0(%q: index, %distance: index):
      %x = arith.constant 1.0 : f32
      %true = arith.constant true
      tile.yield %x, %true : f32, i1
    }
    // Two reductions over the same cells.
    // CHECK: tile.reduce_cells sum of %[[ITEM:.*]] to buffer 4
    // CHECK-NEXT: tile.reduce_cells max of %[[ITEM]] to buffer 5
    // CHECK-NEXT: tile.for_each_row_tile %[[TILE:.*]] of %[[ITEM]] rows 64 {
    tile.reduce_cells sum of %item to buffer 4 (head = kv) cells (0, 16) accumulators 6 {
      tile.reduce_cells max of %item to buffer 5 (head = kv) cells (0, 1) diagonal accumulators 7 {
        tile.for_each_row_tile %tile of %item rows 64 {
          // CHECK: tile.contribute of %[[TILE]] cells(1, 1) where {
          tile.contribute of %tile cells (1, 1) where {
          ^bb0(%q: index, %k: index):
            %n3 = arith.constant 3 : index
            // CHECK: tile.reduce_positions mean rows %{{.*}} keys %{{.*}} {
            %x = tile.reduce_positions mean rows %n3 keys %n3 {
            ^bb0(%i: index, %j: index):
              %x = arith.constant 1.0 : f32
              tile.yield %x : f32
            // CHECK: } : f32
            } : f32
            tile.yield %x : f32
          }
          // CHECK: tile.contribute of %[[TILE]] cells(1, 1) where {
          tile.contribute of %tile cells (1, 1) where {
          ^bb0(%q: index, %k: index):
            %x = arith.constant 1.0 : f32
            tile.yield %x : f32
          }
        }
      }
    }
  }
}

// -----

#small = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>

// CHECK-LABEL: tile.program @gathered
tile.program @gathered attributes {problem = #small, schedule = #tile.schedule<rows = 1, keys = 1>, items = #tile.items<head = kv, axis = none>} {
  tile.for_each_work_item %item {
    // CHECK: tile.store_positions of %{{.*}} cells 16 where {
    tile.store_positions of %item cells 16 where {
    ^bb0(%q: index, %k: index):
      %b = tile.load_cell buffer 0 (head = kv) cells (0, 16) at (%q, %k) of %item : i1
      tile.yield %b : i1
    }
  }
}

// CHECK: tile.plan @gathered_plan compact(head = kv) attributes
tile.plan @gathered_plan compact (head = kv) attributes {pattern = "gathered", problem = #small} {
  tile.launch @gathered
}

// -----

#small = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>

// CHECK-LABEL: tile.program @means
tile.program @means attributes {problem = #small, schedule = #tile.schedule<rows = 64, keys = 128>, items = #tile.items<head = kv, axis = keys>} {
  tile.for_each_work_item %item {
    // CHECK: tile.pool keys of %{{.*}} to buffer 0
    tile.pool keys of %item to buffer 0
    // CHECK: tile.pool values of %{{.*}} to buffer 1
    tile.pool values of %item to buffer 1
  }
}

// -----

// What the lowering to the CPU makes of items and visits, and types for a GPU.

// CHECK-LABEL: func.func private @types
// CHECK-SAME: !tile.shared<192x128xbf16, swizzle = 128, stages = 2>
// CHECK-SAME: !tile.fragment<192x64xf32>, !tile.state<192x128>, !tile.token
func.func private @types(!tile.shared<192x128xbf16, swizzle = 128, stages = 2>, !tile.fragment<192x64xf32>,
                         !tile.state<192x128>, !tile.token)

// CHECK-LABEL: func.func @records
func.func @records(%args: !llvm.ptr, %counters: memref<4xi64>, %i: index, %masked: i1) {
  // CHECK: %[[ITEM:.*]] = tile.item_record arguments(%{{.*}} : !llvm.ptr) request(%{{.*}}) head(%{{.*}}) kv_head(%{{.*}}) layer(%{{.*}}) tile(%{{.*}}) lengths(%{{.*}}, %{{.*}}) rows(%{{.*}}, %{{.*}}) of 64 keys(%{{.*}}, %{{.*}}) first_token(%{{.*}}) statistics(%{{.*}} : memref<4xi64>)
  %item = tile.item_record arguments(%args : !llvm.ptr) request(%i) head(%i) kv_head(%i) layer(%i) tile(%i)
      lengths(%i, %i) rows(%i, %i) of 64 keys(%i, %i) first_token(%i) statistics(%counters : memref<4xi64>)
  // CHECK: tile.visit_record of %[[ITEM]] keys(%{{.*}}, %{{.*}}) masked(%{{.*}}) source #tile.source<pooled keys = 0, values = 1, block = 128>
  %visit = tile.visit_record of %item keys(%i, %i) masked(%masked) source #tile.source<pooled keys = 0, values = 1, block = 128>
  return
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = f32>

// CHECK-LABEL: tile.program @panels
tile.program @panels attributes {
    problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>,
    items = #tile.items<head = query, axis = queries>} {
  // CHECK: tile.for_each_work_item %[[ITEM:.*]] {
  tile.for_each_work_item %item {
    %x = arith.constant 0.125 : f32
    %n = arith.constant 5.0 : f64
    %width = arith.constant 3 : index
    // CHECK: %[[Q:.*]] = tile.load_panel of %[[ITEM]] scratch 0 : !tile.panel<rows = 64, query = 1, elements = 128, f32>
    %queries = tile.load_panel of %item scratch 0 : !tile.panel<rows = 64, query = 1, elements = 128, f32>
    // CHECK: %[[S:.*]] = tile.dot_panel %[[Q]], buffer 1(head = kv) scale %{{.*}} visible all of %[[ITEM]] scratch 2 : !tile.panel<rows = 64, query = 1, elements = 128, f32> -> !tile.panel<rows = 64, query = 1, key = 16, f32>
    %s = tile.dot_panel %queries, buffer 1 (head = kv) scale %x visible all of %item scratch 2
        : !tile.panel<rows = 64, query = 1, elements = 128, f32> -> !tile.panel<rows = 64, query = 1, key = 16, f32>
    // CHECK: tile.dot_panel %[[Q]], keys(head = kv) scale %{{.*}} visible any noncausal of %[[ITEM]] scratch 3
    %t = tile.dot_panel %queries, keys (head = kv) scale %x visible any noncausal of %item scratch 3
        : !tile.panel<rows = 64, query = 1, elements = 128, f32> -> !tile.panel<rows = 64, query = 1, key = 1, f32>
    // CHECK: %[[P:.*]] = tile.reduce_panel sum of %[[ITEM]] causal scratch 4 accumulators 5 : !tile.panel<rows = 64, query = 1, f32> {
    %p = tile.reduce_panel sum of %item causal scratch 4 accumulators 5 : !tile.panel<rows = 64, query = 1, f32> {
      // CHECK: tile.contribute of %[[ITEM]] cells(1, 16) where {
      tile.contribute of %item cells (1, 16) where {
      ^bb0(%q: index, %k: index):
        // CHECK: tile.panel_value %[[S]](%{{.*}}, %{{.*}}) : !tile.panel<rows = 64, query = 1, key = 16, f32> -> f32
        %v = tile.panel_value %s (%q, %k) : !tile.panel<rows = 64, query = 1, key = 16, f32> -> f32
        %e = math.exp %v : f32
        tile.yield %e : f32
      }
    }
    // CHECK: tile.reduce_panel of %[[ITEM]] scratch 6 : !tile.panel<rows = 4, query = 16, key = 32, f64> {
    %m = tile.reduce_panel of %item scratch 6 : !tile.panel<rows = 4, query = 16, key = 32, f64> {
      tile.contribute of %item cells (16, 32) where {
      ^bb0(%q: index, %k: index):
        %d = arith.subi %q, %k : index
        %i = arith.index_cast %d : index to i64
        %f = arith.sitofp %i : i64 to f64
        tile.yield %f : f64
      }
    }
    // CHECK: tile.smooth_panel %[[S]], %{{.*}} of %[[ITEM]] scratch 7 : !tile.panel<rows = 64, query = 1, key = 16, f32>
    %smooth = tile.smooth_panel %s, %width of %item scratch 7 : !tile.panel<rows = 64, query = 1, key = 16, f32>
    // CHECK: %[[CHOSEN:.*]] = tile.select_panel top_k %{{.*}} of %[[ITEM]] scratch 8 row 9 : !tile.panel<rows = 64, query = 1, key = 1, i1> where {
    %chosen = tile.select_panel top_k %n of %item scratch 8 row 9 : !tile.panel<rows = 64, query = 1, key = 1, i1> where {
    ^bb0(%q: index, %k: index):
      %v = tile.panel_value %t (%q, %k) : !tile.panel<rows = 64, query = 1, key = 1, f32> -> f32
      tile.yield %v : f32
    }
    // CHECK: tile.reduce_cells max of %[[ITEM]] causal noncausal to buffer 10(head = query) cells(64, 1) diagonal accumulators 11 {
    tile.reduce_cells max of %item causal noncausal to buffer 10 (head = query) cells (64, 1) diagonal accumulators 11 {
      tile.contribute of %item cells (1, 1) where {
      ^bb0(%q: index, %k: index):
        %b = tile.panel_value %chosen (%q, %k) : !tile.panel<rows = 64, query = 1, key = 1, i1> -> i1
        %v = tile.panel_value %t (%q, %k) : !tile.panel<rows = 64, query = 1, key = 1, f32> -> f32
        %zero = arith.constant 0.0 : f32
        %r = arith.select %b, %v, %zero : f32
        tile.yield %r : f32
      }
    }
    // CHECK: %[[STACK:.*]] = tile.stack_panels %[[EACH:.*]] of %[[ITEM]] all : !tile.panel<rows = 64, query = 1, elements = 128, f32> attributes {scratch = array<i64: 13>} {
    %stack = tile.stack_panels %each of %item all : !tile.panel<rows = 64, query = 1, elements = 128, f32> attributes {scratch = array<i64: 13>} {
      // CHECK: %[[OF_HEAD:.*]] = tile.load_panel of %[[EACH]] scratch 14
      %of_head = tile.load_panel of %each scratch 14 : !tile.panel<rows = 64, query = 1, elements = 128, f32>
      // CHECK: tile.yield %[[OF_HEAD]]
      tile.yield %of_head : !tile.panel<rows = 64, query = 1, elements = 128, f32>
    }
    %joined = tile.reduce_panel of %item scratch 15 : !tile.panel<rows = 64, query = 1, f32> {
      tile.contribute of %item cells (1, 0) where {
      ^bb0(%q: index, %k: index):
        %one = arith.constant 1 : index
        // CHECK: tile.reduce_positions sum over all of %[[ITEM]] rows %{{.*}} keys %{{.*}} {
        %sum = tile.reduce_positions sum over all of %item rows %one keys %one {
        // CHECK: ^bb0(%[[SUB:.*]]: !tile.item, %{{.*}}: index, %{{.*}}: index):
        ^bb0(%sub: !tile.item, %i: index, %j: index):
          // CHECK: tile.panel_value %[[STACK]] of %[[SUB]](%{{.*}}, %{{.*}}) : !tile.panel<rows = 64, query = 1, elements = 128, f32> -> f32
          %v = tile.panel_value %stack of %sub (%q, %i) : !tile.panel<rows = 64, query = 1, elements = 128, f32> -> f32
          tile.yield %v : f32
        } : f32
        tile.yield %sum : f32
      }
    }
    // CHECK: tile.for_each_visit
    tile.for_each_visit %visit of %item
        touched [interval<lower = affine_map<(t) -> (0)>, upper = affine_map<(t) -> (t + 1)>>] hidden []
        source #tile.source<tokens> {
      // CHECK: tile.any at %{{.*}} cells (64, 16) where {
      %any = tile.any at %visit cells (64, 16) where {
      ^bb0(%q: index, %k: index):
        // CHECK: tile.load_cell buffer 10(head = query) cells(64, 1) diagonal noncausal at(%{{.*}}, %{{.*}}) of %[[ITEM]] : f64
        %a = tile.load_cell buffer 10 (head = query) cells (64, 1) diagonal noncausal at (%q, %k) of %item : f64
        %zero = arith.constant 0.0 : f64
        %r = arith.cmpf ogt, %a, %zero : f64
        tile.yield %r : i1
      } : !tile.fragment<1x1xi1>
      tile.store_cell %any at %visit to buffer 12 : !tile.fragment<1x1xi1>
      tile.yield
    }
  }
}

// CHECK-LABEL: tile.program @means
tile.program @means attributes {
    problem = #problem, schedule = #tile.schedule<rows = 64, keys = 128>,
    items = #tile.items<head = kv, axis = keys>} {
  // CHECK: tile.for_each_work_item %[[ITEM:.*]] {
  tile.for_each_work_item %item {
    %first = arith.constant 64 : index
    // CHECK: tile.reduce_cells mean of %[[ITEM]] to buffer 0(head = kv) cells(0, 128) elements 128 accumulators 1 {
    tile.reduce_cells mean of %item to buffer 0 (head = kv) cells (0, 128) elements 128 accumulators 1 {
      // CHECK: tile.contribute of %[[ITEM]] cells(0, 1) elements 128 where {
      tile.contribute of %item cells (0, 1) elements 128 where {
      ^bb0(%q: index, %k: index, %i: index):
        // CHECK: tile.load_element keys of %[[ITEM]] at(%{{.*}}, %{{.*}}) : f32
        %x = tile.load_element keys of %item at (%k, %i) : f32
        // CHECK: tile.load_cell input 0(head = kv) cells(0, 64) at(%{{.*}}, %{{.*}}) element %{{.*}} of %[[ITEM]] : f32
        %y = tile.load_cell input 0 (head = kv) cells (0, 64) at (%q, %k) element %i of %item : f32
        %z = arith.addf %x, %y : f32
        tile.yield %z : f32
      }
    }
    tile.reduce_cells var of %item to buffer 2 (head = kv) cells (0, 128) accumulators 3 {
      // CHECK: tile.for_each_head %[[HEAD:.*]] of %[[ITEM]] {
      tile.for_each_head %head of %item {
        // CHECK: tile.for_each_row_tile %[[TILE:.*]] of %[[HEAD]] rows 64 from %{{.*}} {
        tile.for_each_row_tile %tile of %head rows 64 from %first {
          // CHECK: tile.contribute of %[[TILE]] cells(1, 1) where {
          tile.contribute of %tile cells (1, 1) where {
          ^bb0(%q: index, %k: index):
            // CHECK: tile.reduce_elements sum 128 {
            %s = tile.reduce_elements sum 128 {
            ^bb0(%i: index):
              // CHECK: tile.load_element queries of %[[TILE]] at(%{{.*}}, %{{.*}}) : f32
              %a = tile.load_element queries of %tile at (%q, %i) : f32
              %b = tile.load_element keys of %tile at (%k, %i) : f32
              %ab = arith.mulf %a, %b : f32
              tile.yield %ab : f32
            // CHECK: } : f32
            } : f32
            tile.yield %s : f32
          }
        }
      }
    }
  }
}

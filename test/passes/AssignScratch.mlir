// RUN: skim-opt --skim-assign-scratch %s | FileCheck %s

// Within a program every panel has a buffer of its own, bytes where it holds i1; sums and the row of a selection have theirs.
// CHECK-DAG:   #[[MAP0:.*]] = affine_map<()[s0, s1, s2] -> (1, 1, 65, 64)>
// CHECK-DAG:   #[[MAP1:.*]] = affine_map<()[s0, s1, s2] -> (1, 1, s2 ceildiv 16 + 1, 64)>
// CHECK-DAG:   #[[MAP2:.*]] = affine_map<()[s0, s1, s2] -> (1, 1, 1, s2 ceildiv 16)>
// CHECK-DAG:   #[[MAP3:.*]] = affine_map<()[s0, s1, s2] -> (1, 1, 2, 64)>
// CHECK-DAG:   #[[MAP4:.*]] = affine_map<()[s0, s1, s2] -> (1, 1, 6, 64)>
// CHECK-DAG:   #[[MAP5:.*]] = affine_map<()[s0, s1, s2] -> (1, 1, 1, s1 + s2)>
// CHECK-DAG:   #[[MAP6:.*]] = affine_map<()[s0, s1, s2] -> (1, 1, 4, s2 ceildiv 16)>
// CHECK-DAG:   #[[STACK:.*]] = affine_map<()[s0, s1, s2] -> (1, 1, 260, 64)>
// CHECK-LABEL: tile.plan @shared_plan
// CHECK-NEXT:  tile.buffer 0 "map" : ui8
// CHECK-NEXT:  tile.launch @first
// CHECK-NEXT:  tile.launch @second
// CHECK-NEXT:  tile.buffer 1 "panel" : f32 cell 1 extents #[[MAP0]] per_worker
// CHECK-NEXT:  tile.buffer 2 "panel_1" : f32 cell 1 extents #[[MAP1]] per_worker
// CHECK-NEXT:  tile.buffer 3 "panel_2" : f32 cell 1 extents #[[MAP1]] per_worker
// CHECK-NEXT:  tile.buffer 4 "panel_3" : ui8 cell 1 extents #[[MAP1]] per_worker
// CHECK-NEXT:  tile.buffer 5 "row" : f32 cell 3 extents #[[MAP2]] per_worker
// CHECK-NEXT:  tile.buffer 6 "panel_4" : f32 cell 1 extents #[[MAP3]] per_worker
// CHECK-NEXT:  tile.buffer 7 "panel_sums" : f64 cell 1 extents #[[MAP4]] per_worker
// CHECK-NEXT:  tile.buffer 8 "sums" : f64 cell 3 extents #[[MAP5]] per_worker
// CHECK-NEXT:  tile.buffer 9 "sums_1" : f64 cell 192 extents #[[MAP2]] per_worker
// CHECK-NEXT:  tile.buffer 10 "sums_2" : f64 cell 3 extents #[[MAP6]] per_worker
// CHECK-NEXT:  }
#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.plan @shared_plan attributes {pattern = "shared", problem = #problem} {
  tile.buffer 0 "map" : ui8 cell 1 extents affine_map<()[s0, s1, s2] -> (s0, 4, 1, s2)> zeroed
  tile.launch @first
  tile.launch @second
}

// CHECK-LABEL: tile.program @first
// CHECK:       tile.load_panel of %{{.*}} scratch 1
// CHECK:       tile.dot_panel {{.*}} scratch 2
// CHECK:       tile.smooth_panel {{.*}} scratch 3
// CHECK:       tile.select_panel top_p {{.*}} scratch 4 row 5
tile.program @first attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    %scale = tile.softmax_scale of %item : f32
    %queries = tile.load_panel of %item : !tile.panel<rows = 64, query = 1, elements = 64, f32>
    %s = tile.dot_panel %queries, buffer 0 (head = kv) scale %scale visible all of %item : !tile.panel<rows = 64, query = 1, elements = 64, f32> -> !tile.panel<rows = 64, query = 1, key = 16, f32>
    %n = arith.constant 3 : index
    %t = tile.smooth_panel %s, %n of %item : !tile.panel<rows = 64, query = 1, key = 16, f32>
    %mass = arith.constant 0.5 : f64
    %c = tile.select_panel top_p %mass of %item : !tile.panel<rows = 64, query = 1, key = 16, i1> where {
    ^bb0(%q: index, %k: index):
      %x = tile.panel_value %t (%q, %k) : !tile.panel<rows = 64, query = 1, key = 16, f32> -> f32
      tile.yield %x : f32
    }
  }
}

// A program that runs later takes what is there before it adds anything; what has scratch keeps it.
// CHECK-LABEL: tile.program @second
// CHECK:       tile.reduce_panel max of %{{.*}} scratch 6 accumulators 7
// CHECK:       tile.load_panel of %{{.*}} scratch 1
// CHECK:       tile.dot_panel {{.*}} scratch 3
// CHECK:       tile.dot_panel {{.*}} scratch 2
// CHECK:       tile.reduce_cells sum {{.*}} diagonal accumulators 8
// CHECK:       tile.reduce_cells mean {{.*}} elements 64 accumulators 9
// CHECK:       tile.reduce_cells max {{.*}} cells(16, 16) accumulators 10
// CHECK:       tile.reduce_cells of %{{.*}} to buffer 0(head = query) cells(64, 16) {
tile.program @second attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
  tile.for_each_work_item %item {
    %scale = tile.softmax_scale of %item : f32
    %m = tile.reduce_panel max of %item : !tile.panel<rows = 64, query = 1, f32> {
      tile.contribute of %item cells (1, 16) where {
      ^bb0(%q: index, %k: index):
        tile.yield %scale : f32
      }
    }
    %queries = tile.load_panel of %item : !tile.panel<rows = 64, query = 1, elements = 64, f32>
    %s = tile.dot_panel %queries, buffer 0 (head = kv) scale %scale visible all of %item scratch 3 : !tile.panel<rows = 64, query = 1, elements = 64, f32> -> !tile.panel<rows = 64, query = 1, key = 16, f32>
    %t = tile.dot_panel %queries, buffer 0 (head = kv) scale %scale visible any of %item : !tile.panel<rows = 64, query = 1, elements = 64, f32> -> !tile.panel<rows = 64, query = 1, key = 16, f32>
    tile.reduce_cells sum of %item noncausal to buffer 0 (head = query) cells (64, 1) diagonal {
      tile.contribute of %item cells (1, 1) where {
      ^bb0(%q: index, %k: index):
        tile.yield %scale : f32
      }
    }
    tile.reduce_cells mean of %item to buffer 0 (head = query) cells (64, 16) elements 64 {
      tile.contribute of %item cells (1, 1) elements 64 where {
      ^bb0(%q: index, %k: index, %i: index):
        tile.yield %scale : f32
      }
    }
    tile.reduce_cells max of %item to buffer 0 (head = query) cells (16, 16) {
      tile.contribute of %item cells (1, 1) where {
      ^bb0(%q: index, %k: index):
        tile.yield %scale : f32
      }
    }
    tile.reduce_cells of %item to buffer 0 (head = query) cells (64, 16) {
      tile.contribute of %item cells (64, 16) where {
      ^bb0(%q: index, %k: index):
        tile.yield %scale : f32
      }
    }
  }
}

// A stack has a panel for each of four query heads: 64 columns and one more of each.
// CHECK-LABEL: tile.plan @heads_plan
// CHECK:         tile.buffer 1 "panels" : f32 cell 1 extents #[[STACK]] per_worker
// CHECK:         tile.buffer 2 "panel" : f32 cell 1 extents #{{.*}} per_worker
tile.plan @heads_plan attributes {pattern = "heads", problem = #problem} {
  tile.buffer 0 "map" : f32 cell 1 extents affine_map<()[s0, s1, s2] -> (s0, 2, s1, 1)>
  tile.launch @heads
}

// CHECK-LABEL: tile.program @heads
// CHECK:       tile.stack_panels {{.*}} attributes {scratch = array<i64: 1>}
// CHECK-NEXT:    tile.load_panel of %{{.*}} scratch 2
tile.program @heads attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = kv, axis = queries>} {
  tile.for_each_work_item %item {
    %stack = tile.stack_panels %sub of %item : !tile.panel<rows = 64, query = 1, elements = 64, f32> {
      %x = tile.load_panel of %sub : !tile.panel<rows = 64, query = 1, elements = 64, f32>
      tile.yield %x : !tile.panel<rows = 64, query = 1, elements = 64, f32>
    }
  }
}

// RUN: skim-opt %s -split-input-file --skim-cpu-lower-program --skim-cpu-lower-items -canonicalize | FileCheck %s

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 32, value_dim = 32, operand = f32, out = f32>

// The two query heads of the KV head, and for each the tiles of 64 rows that hold a row of the request.
// CHECK-LABEL: func.func @group
tile.program @group attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 128>, items = #tile.items<head = kv, axis = keys>} {
  tile.for_each_work_item %item {
    // CHECK: tile.item_record {{.*}} rows(%[[ZERO:.*]], %[[ZERO]]) of 0 keys(%[[FIRST:[^,]*]], %[[END:[^)]*]])
    // CHECK: tile.reduce_cells
    tile.reduce_cells sum of %item to buffer 0 (head = kv) cells (0, 64) accumulators 1 {
      // CHECK: scf.for %[[HEAD:.*]] = %{{.*}} to %{{.*}} step %c1
      tile.for_each_head %head of %item {
        // CHECK: scf.for %[[TILE:.*]] = %{{.*}} to %{{.*}} step %c1
        // CHECK: %[[START:.*]] = arith.muli %[[TILE]], %c64
        // CHECK: %[[PART:.*]] = tile.item_record {{.*}} head(%[[HEAD]]) {{.*}} tile(%[[TILE]]) {{.*}} of 64 keys(%[[FIRST]], %[[END]])
        // What the body reads of its part are values.
        // CHECK: arith.addi
        // CHECK-NOT: tile.uniform
        // CHECK: tile.contribute of %[[PART]] cells(1, 64)
        tile.for_each_row_tile %tile of %head rows 64 {
          %row = tile.uniform first_row of %tile : index
          tile.contribute of %tile cells (1, 64) where {
          ^bb0(%q: index, %k: index):
            %d = arith.subi %q, %row : index
            %i = arith.index_cast %d : index to i32
            %x = arith.sitofp %i : i32 to f32
            tile.yield %x : f32
          }
        }
      }
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 32, value_dim = 32, operand = f32, out = f32>

// All heads where the item has none, each with its KV head; tiles from a position on.
// CHECK-LABEL: func.func @all
tile.program @all attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = none, axis = none>} {
  tile.for_each_work_item %item {
    // CHECK: scf.for %[[HEAD:.*]] = %c0 to %c4 step %c1
    // CHECK: %[[KV:.*]] = arith.shrsi %[[HEAD]], %c1
    // CHECK: arith.maxsi
    // CHECK: scf.for
    // CHECK: tile.item_record {{.*}} head(%[[HEAD]]) kv_head(%[[KV]]) {{.*}} of 32
    %first = tile.uniform q_len of %item : index
    tile.reduce_cells sum of %item to buffer 0 (head = none) cells (0, 0) accumulators 1 {
      tile.for_each_head %head of %item {
        tile.for_each_row_tile %tile of %head rows 32 from %first {
          tile.contribute of %tile cells (1, 64) where {
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

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 32, value_dim = 32, operand = f32, out = f32>

// The query heads of each KV head, though the program's items have no head.
// CHECK-LABEL: func.func @group_of_each
tile.program @group_of_each attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = none, axis = none>} {
  tile.for_each_work_item %item {
    // CHECK: scf.for %[[KV:.*]] = %c0 to %c2 step %c1
    // CHECK: tile.reduce_panel
    // CHECK: %[[FIRST:.*]] = arith.muli %[[KV]], %c2
    // CHECK: %[[END:.*]] = arith.addi %[[FIRST]], %c2
    // CHECK: scf.for %[[HEAD:.*]] = %[[FIRST]] to %[[END]] step %c1
    // CHECK: tile.item_record {{.*}} head(%[[HEAD]])
    tile.reduce_cells sum of %item to buffer 0 (head = none) cells (0, 64) accumulators 1 {
      tile.for_each_head %kv of %item kv_heads {
        tile.for_each_row_tile %rows of %kv rows 64 {
          %sums = tile.reduce_panel sum of %rows scratch 2 accumulators 3 : !tile.panel<rows = 1, query = 64, key = 64, f32> {
            tile.for_each_head %head of %rows {
              tile.contribute of %head cells (1, 64) where {
              ^bb0(%q: index, %k: index):
                %x = arith.constant 1.0 : f32
                tile.yield %x : f32
              }
            }
          }
          tile.contribute of %rows cells (64, 64) where {
          ^bb0(%q: index, %k: index):
            %x = tile.panel_value %sums (%q, %k) : !tile.panel<rows = 1, query = 64, key = 64, f32> -> f32
            tile.yield %x : f32
          }
        }
      }
    }
  }
}

// -----

#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 32, value_dim = 32, operand = f32, out = f32>

// Each head's panel is copied to its place: 32 columns of 64 rows.
// CHECK-LABEL: func.func @stacks
tile.program @stacks attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = kv, axis = queries>} {
  tile.for_each_work_item %item {
    // CHECK: scf.for
    // CHECK: scf.for %[[HEAD:.*]] = %{{.*}} to %{{.*}} step %c1
    // CHECK: %[[PART:.*]] = tile.item_record {{.*}} head(%[[HEAD]])
    // CHECK: %[[PANEL:.*]] = tile.load_panel of %[[PART]] scratch 1
    // CHECK: %[[MADE:.*]] = builtin.unrealized_conversion_cast %[[PANEL]]
    // CHECK: %[[OFFSET:.*]] = arith.muli %[[HEAD]], %c8192
    // CHECK: llvm.getelementptr
    // CHECK: "llvm.intr.memcpy"(%{{.*}}, %[[MADE]], %c8192_i64)
    %stack = tile.stack_panels %sub of %item : !tile.panel<rows = 64, query = 1, elements = 32, f32> attributes {scratch = array<i64: 0>} {
      %x = tile.load_panel of %sub scratch 1 : !tile.panel<rows = 64, query = 1, elements = 32, f32>
      tile.yield %x : !tile.panel<rows = 64, query = 1, elements = 32, f32>
    }
  }
}

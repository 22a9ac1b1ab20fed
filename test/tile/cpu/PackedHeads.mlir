// RUN: not skim-opt %s --skim-cpu-lower-program 2>&1 | FileCheck %s

// CHECK: error: tiles of several query heads are not compiled for this target
#problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32>
tile.program @p attributes {problem = #problem, schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = kv, axis = queries>} {
  tile.for_each_work_item %item {
    %queries = tile.load_queries %item : !tile.shared<128x64xf32>
  }
}

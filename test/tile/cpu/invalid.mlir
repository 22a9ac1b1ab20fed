// RUN: not skim-opt %s --skim-cpu-lower-visits=target=x86-64-v9 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not skim-opt %s --skim-cpu-lower-memory=target=x86-64-v3 2>&1 | FileCheck %s --check-prefix=ORDER

// TARGET: error: 'skim-cpu-lower-visits': unknown CPU target 'x86-64-v9', expected native, x86-64-v2
// ORDER: error: 'tile.finish' op expected its work item to be a 'tile.item_record'; run 'skim-cpu-lower-program' first
func.func @f(%item: !tile.item, %state: !tile.state<64x64>) {
  tile.finish %item, %state : !tile.state<64x64>
  return
}

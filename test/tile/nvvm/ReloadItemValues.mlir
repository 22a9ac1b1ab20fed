// RUN: skim-opt %s --skim-nvvm-reload-item-values -allow-unregistered-dialect | FileCheck %s

// What the branch alone needs is loaded in it; what the loop needs everywhere stays before it. Numbers of 32 bits are kept, out of LLVM's sight.
// CHECK-LABEL: llvm.func @many
// CHECK: scf.while
// CHECK: "test.visit"
// CHECK: scf.if
// CHECK: %[[REQUEST:.*]] = llvm.inline_asm has_side_effects "mov.b32 $0, $1;"
// CHECK: arith.index_cast %[[REQUEST]] : i32 to index
// CHECK-COUNT-8: llvm.load %{{.*}} : !llvm.ptr -> i64
// CHECK: "test.mask"
llvm.func @many(%arguments: !llvm.ptr) {
  scf.while : () -> () {
    %more = "test.take"() : () -> i1
    scf.condition(%more)
  } do {
    %request = "test.request"() : () -> i32
    %wide = arith.index_cast %request : i32 to index
    %p1 = llvm.getelementptr %arguments[8] : (!llvm.ptr) -> !llvm.ptr, i8
    %p2 = llvm.getelementptr %arguments[16] : (!llvm.ptr) -> !llvm.ptr, i8
    %p3 = llvm.getelementptr %arguments[24] : (!llvm.ptr) -> !llvm.ptr, i8
    %p4 = llvm.getelementptr %arguments[32] : (!llvm.ptr) -> !llvm.ptr, i8
    %p5 = llvm.getelementptr %arguments[40] : (!llvm.ptr) -> !llvm.ptr, i8
    %p6 = llvm.getelementptr %arguments[48] : (!llvm.ptr) -> !llvm.ptr, i8
    %p7 = llvm.getelementptr %arguments[56] : (!llvm.ptr) -> !llvm.ptr, i8
    %v0 = llvm.load %arguments : !llvm.ptr -> i64
    %v1 = llvm.load %p1 : !llvm.ptr -> i64
    %v2 = llvm.load %p2 : !llvm.ptr -> i64
    %v3 = llvm.load %p3 : !llvm.ptr -> i64
    %v4 = llvm.load %p4 : !llvm.ptr -> i64
    %v5 = llvm.load %p5 : !llvm.ptr -> i64
    %v6 = llvm.load %p6 : !llvm.ptr -> i64
    %v7 = llvm.load %p7 : !llvm.ptr -> i64
    scf.while : () -> () {
      %next = "test.visit"() : () -> i1
      scf.condition(%next)
    } do {
      nvvm.wgmma.fence.aligned
      %masked = "test.masked"() : () -> i1
      scf.if %masked {
        "test.mask"(%wide, %v0, %v1, %v2, %v3, %v4, %v5, %v6, %v7) : (index, i64, i64, i64, i64, i64, i64, i64, i64) -> ()
      }
      scf.yield
    }
    scf.yield
  }
  llvm.return
}

// Few values are cheaper kept, and so is what is used outside of branches.
// CHECK-LABEL: llvm.func @few
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> i64
// CHECK: "test.visit"
// CHECK-NOT: llvm.load
llvm.func @few(%arguments: !llvm.ptr) {
  scf.while : () -> () {
    %more = "test.take"() : () -> i1
    scf.condition(%more)
  } do {
    %v0 = llvm.load %arguments : !llvm.ptr -> i64
    scf.while : () -> () {
      %next = "test.visit"() : () -> i1
      scf.condition(%next)
    } do {
      nvvm.wgmma.fence.aligned
      %masked = "test.masked"() : () -> i1
      scf.if %masked {
        "test.mask"(%v0) : (i64) -> ()
      }
      scf.yield
    }
    scf.yield
  }
  llvm.return
}

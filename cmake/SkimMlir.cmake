# Finds MLIR and LLVM 22 and says how targets link them (SKIM_LINK).

set(MLIR_DIR /usr/lib/llvm-22/lib/cmake/mlir CACHE PATH "where MLIRConfig.cmake lies")
# The version file accepts an equal major.minor only.
find_package(MLIR 22.1 REQUIRED CONFIG)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
# Unset, the documentation targets would write to the root of the file system.
set(MLIR_BINARY_DIR ${PROJECT_BINARY_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# Collects the static archives that the MLIR targets in ARGN stand on. Debian's
# MLIR archives name the shared LLVM in their interface; linking them by target
# would put two LLVMs into one program, so `LLVM` and `MLIR` are dropped here.
function(skim_static_closure out)
  set(queue ${ARGN})
  set(seen)
  set(files)
  while(queue)
    list(POP_FRONT queue item)
    if(item IN_LIST seen OR item MATCHES "^(LLVM|MLIR)$" OR NOT TARGET ${item})
      continue()
    endif()
    list(APPEND seen ${item})
    get_target_property(kind ${item} TYPE)
    if(kind STREQUAL "STATIC_LIBRARY")
      list(APPEND files $<TARGET_FILE:${item}>)
    endif()
    get_target_property(deps ${item} INTERFACE_LINK_LIBRARIES)
    if(deps)
      list(TRANSFORM deps REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1")
      list(APPEND queue ${deps})
    endif()
  endwhile()
  set(${out} ${files} PARENT_SCOPE)
endfunction()

add_library(skim_mlir INTERFACE)
target_include_directories(skim_mlir SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
separate_arguments(SKIM_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_definitions(skim_mlir INTERFACE ${SKIM_LLVM_DEFINITIONS})
if(SKIM_LINK STREQUAL "static")
  set(mlir_libs ${MLIR_EXPORTED_TARGETS})
  list(FILTER mlir_libs INCLUDE REGEX "^MLIR")
  list(FILTER mlir_libs EXCLUDE REGEX "Test|CAPI|Shared$|JitRunner|RegisterAll|MlirOptMain$")
  # The MLIR archives do not say which LLVM archives they need: these are the roots.
  set(llvm_roots LLVMX86CodeGen LLVMX86AsmParser LLVMAArch64CodeGen LLVMAArch64AsmParser
      LLVMNVPTXCodeGen LLVMOrcJIT LLVMPerfJITEvents LLVMPasses LLVMSupportLSP LLVMSupport)
  skim_static_closure(archives ${mlir_libs} ${llvm_roots})
  target_link_libraries(skim_mlir INTERFACE
    -Wl,--as-needed -Wl,--start-group ${archives} -Wl,--end-group -l:libz.a -l:libzstd.a ${CMAKE_DL_LIBS})
  target_link_options(skim_mlir INTERFACE -fuse-ld=lld -B${LLVM_TOOLS_BINARY_DIR} -Wl,--gc-sections -static-libstdc++ -static-libgcc)
else()
  target_link_libraries(skim_mlir INTERFACE MLIR LLVM)
endif()

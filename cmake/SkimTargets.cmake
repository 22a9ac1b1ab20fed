# Helpers that keep every CMakeLists.txt short and every target alike.

add_library(skim_warnings INTERFACE)
target_compile_options(skim_warnings INTERFACE -Wall -Wextra -Wpedantic -Werror
  -Wnon-virtual-dtor -Woverloaded-virtual -Wno-unused-parameter
  $<$<CXX_COMPILER_ID:GNU>:-Wno-dangling-pointer -Wno-maybe-uninitialized>)
target_include_directories(skim_warnings INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
if(SKIM_SANITIZE)
  target_compile_options(skim_warnings INTERFACE -fsanitize=address,undefined -fno-omit-frame-pointer)
  target_link_options(skim_warnings INTERFACE -fsanitize=address,undefined)
endif()
if(SKIM_FUZZ)
  # Coverage for libFuzzer; the fuzz targets themselves link its main function.
  target_compile_options(skim_warnings INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(skim_warnings INTERFACE -fsanitize=fuzzer-no-link)
endif()

# skim_add_library(NAME SOURCES a.cpp ... [LINK libs ...] [MLIR])
# MLIR: the library uses MLIR or LLVM.
function(skim_add_library name)
  cmake_parse_arguments(ARG "MLIR" "" "SOURCES;LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC ${ARG_LINK} PRIVATE skim_warnings)
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  if(ARG_MLIR)
    target_link_libraries(${name} PUBLIC skim_mlir)
  endif()
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# skim_add_executable(NAME SOURCES a.cpp ... [LINK libs ...])
function(skim_add_executable name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} skim_warnings)
endfunction()

# skim_add_unit_test(NAME SOURCES a.cpp ... [LINK libs ...] [LABELS l ...]): a GoogleTest
# program, run by ctest as one test.
function(skim_add_unit_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LINK;LABELS" ${ARGN})
  skim_add_executable(${name} SOURCES ${ARG_SOURCES} LINK ${ARG_LINK} GTest::gtest_main GTest::gmock)
  add_test(NAME ${name} COMMAND ${name})
  if(ARG_LABELS)
    set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}")
  endif()
  if(ARG_TIMEOUT)
    set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT})
  endif()
endfunction()

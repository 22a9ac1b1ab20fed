# Helpers that keep every CMakeLists.txt short and every target alike.

add_library(skim_warnings INTERFACE)
target_compile_options(skim_warnings INTERFACE -Wall -Wextra -Wpedantic -Werror
  -Wnon-virtual-dtor -Woverloaded-virtual -Wno-unused-parameter
  $<$<CXX_COMPILER_ID:GNU>:-Wno-dangling-pointer -Wno-maybe-uninitialized>
  # std::stable_sort of libstdc++ calls what it deprecates.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
target_include_directories(skim_warnings INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
if(SKIM_SANITIZE)
  target_compile_options(skim_warnings INTERFACE -fsanitize=${SKIM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(skim_warnings INTERFACE -fsanitize=${SKIM_SANITIZE})
endif()
# For what calls kernels: code that is made at run time says nothing of its type in front of its start, where the
# sanitizer of function types would look, and may start a page.
set(SKIM_CALLS_KERNELS)
if(SKIM_SANITIZE MATCHES undefined)
  set(SKIM_CALLS_KERNELS -fno-sanitize=function)
endif()
if(SKIM_FUZZ)
  # Coverage for libFuzzer; the fuzz targets themselves link its main function.
  target_compile_options(skim_warnings INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(skim_warnings INTERFACE -fsanitize=fuzzer-no-link)
endif()

# skim_add_library(NAME SOURCES a.cpp ... [LINK libs ...] [MLIR] [SEPARATE])
# MLIR: the library uses MLIR or LLVM. SEPARATE: each source is compiled alone where others are joined (CMAKE_UNITY_BUILD, of
# the presets with sanitizers), since names of anonymous namespaces repeat.
function(skim_add_library name)
  cmake_parse_arguments(ARG "MLIR;SEPARATE" "" "SOURCES;LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC ${ARG_LINK} PRIVATE skim_warnings)
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  if(ARG_MLIR)
    target_link_libraries(${name} PUBLIC skim_mlir)
  endif()
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)
  if(ARG_SEPARATE)
    set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# skim_add_executable(NAME SOURCES a.cpp ... [LINK libs ...] [SEPARATE])
# SEPARATE: as for libraries.
function(skim_add_executable name)
  cmake_parse_arguments(ARG "SEPARATE" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} skim_warnings)
  if(ARG_SEPARATE)
    set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  endif()
endfunction()

# skim_set_timeout(SECONDS TEST...): how long tests may take; ten times as long with sanitizers.
function(skim_set_timeout seconds)
  if(SKIM_SANITIZE)
    math(EXPR seconds "10 * ${seconds}")
  endif()
  set_tests_properties(${ARGN} PROPERTIES TIMEOUT ${seconds})
endfunction()

# skim_add_unit_test(NAME SOURCES a.cpp ... [LINK libs ...] [LABELS l ...]): a GoogleTest
# program, run by ctest as one test. Tests of one subject name their helpers alike: each source is compiled alone.
function(skim_add_unit_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LINK;LABELS" ${ARGN})
  skim_add_executable(${name} SEPARATE SOURCES ${ARG_SOURCES} LINK ${ARG_LINK} GTest::gtest_main GTest::gmock)
  add_test(NAME ${name} COMMAND ${name})
  # Tests compile anew, and leave the user's cache of kernels alone.
  set_tests_properties(${name} PROPERTIES ENVIRONMENT SKIM_CACHE_DIR=)
  if(ARG_LABELS)
    set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}")
  endif()
  if(ARG_TIMEOUT)
    skim_set_timeout(${ARG_TIMEOUT} ${name})
  endif()
endfunction()

# skim_add_device_image(OUTPUT.cpp SOURCE file.c HEADER header.h VARIABLE name [ARCHITECTURE sm_80] [PTX 70]): the
# PTX of kernels in C, made by clang, as text that HEADER declares under VARIABLE.
find_program(SKIM_CLANG NAMES clang-22 HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED)
set(SKIM_EMBED_TEXT ${CMAKE_CURRENT_LIST_DIR}/EmbedText.cmake)
function(skim_add_device_image output)
  cmake_parse_arguments(ARG "" "SOURCE;HEADER;VARIABLE;ARCHITECTURE;PTX" "" ${ARGN})
  if(NOT ARG_ARCHITECTURE)
    set(ARG_ARCHITECTURE sm_80)
    set(ARG_PTX 70)
  endif()
  set(ptx ${CMAKE_CURRENT_BINARY_DIR}/${output}.ptx)
  add_custom_command(OUTPUT ${ptx}
    COMMAND ${SKIM_CLANG} --target=nvptx64-nvidia-cuda -march=${ARG_ARCHITECTURE} --cuda-feature=+ptx${ARG_PTX} -O3 -std=c17 -ffreestanding
            -fconvergent-functions -Wall -Wextra -Werror -Wno-unused-parameter -I${PROJECT_SOURCE_DIR} -I${PROJECT_SOURCE_DIR}/runtime/include
            -MD -MF ${ptx}.d -S -o ${ptx} ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_SOURCE}
    DEPENDS ${ARG_SOURCE} DEPFILE ${ptx}.d VERBATIM)
  add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${output}
    COMMAND ${CMAKE_COMMAND} -DINPUT=${ptx} -DOUTPUT=${CMAKE_CURRENT_BINARY_DIR}/${output}
            -DHEADER=${ARG_HEADER} -DVARIABLE=${ARG_VARIABLE} -P ${SKIM_EMBED_TEXT}
    DEPENDS ${ptx} ${SKIM_EMBED_TEXT} VERBATIM)
endfunction()

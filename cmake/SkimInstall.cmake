# What `cmake --install` puts where. Components: Runtime (a library without LLVM), Compiler (a library
# that needs MLIR and LLVM), Tools (the programs).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The project's own static libraries that those in ARGN stand on, except the runtime.
function(skim_own_closure out)
  set(queue ${ARGN})
  set(seen)
  while(queue)
    list(POP_FRONT queue item)
    if(item IN_LIST seen OR item STREQUAL "skim_runtime" OR NOT item MATCHES "^skim_" OR NOT TARGET ${item})
      continue()
    endif()
    get_target_property(kind ${item} TYPE)
    if(NOT kind STREQUAL "STATIC_LIBRARY")
      continue()
    endif()
    list(APPEND seen ${item})
    get_target_property(next ${item} LINK_LIBRARIES)
    if(next)
      list(APPEND queue ${next})
    endif()
  endwhile()
  set(${out} ${seen} PARENT_SCOPE)
endfunction()

# One archive for the whole compiler: nobody outside has to know its parts.
skim_own_closure(parts skim_compiler)
list(TRANSFORM parts REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
add_library(skim_compiler_archive STATIC ${objects})
set_target_properties(skim_compiler_archive PROPERTIES
  OUTPUT_NAME skim_compiler LINKER_LANGUAGE CXX ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/package)
add_dependencies(skim_compiler_archive ${parts})

install(TARGETS skim_runtime ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT Runtime)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/include/skim DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT Runtime)
install(TARGETS skim_compiler_archive ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT Compiler)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/codegen/include/skim DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT Compiler)
set_target_properties(skim skim-opt skim-lsp-server PROPERTIES INSTALL_RPATH ${LLVM_LIBRARY_DIR})
install(TARGETS skim skim-opt skim-lsp-server RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT Tools)
install(TARGETS skim_bench_runtime LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT Tools)
install(DIRECTORY ${PROJECT_BINARY_DIR}/tools/skim/share/ DESTINATION ${CMAKE_INSTALL_DATADIR} COMPONENT Tools)
foreach(folder vim/vimfiles nvim/site)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/editors/vim/ DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder} COMPONENT Tools)
endforeach()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Skim)
set(package_files ${PROJECT_BINARY_DIR}/package)
# Names of libraries for linkers, from the paths that CMake found.
get_filename_component(SKIM_PTHREADPOOL ${PTHREADPOOL_LIBRARY} NAME_WE)
string(REGEX REPLACE "^lib" "" SKIM_PTHREADPOOL ${SKIM_PTHREADPOOL})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/SkimConfig.cmake.in ${package_files}/SkimConfig.cmake
  INSTALL_DESTINATION ${package_dir} PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${package_files}/SkimConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${package_files}/SkimConfig.cmake ${package_files}/SkimConfigVersion.cmake
  DESTINATION ${package_dir} COMPONENT Runtime)
# Wherever the tree is put, a file of pkg-config finds the prefix from its own place.
file(RELATIVE_PATH SKIM_UP_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
foreach(part Runtime Compiler)
  string(TOLOWER skim-${part}.pc name)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${name}.in ${package_files}/${name} @ONLY)
  install(FILES ${package_files}/${name} DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${part})
endforeach()

# Writes a header with a digest of the files listed in LIST, one a line; leaves it alone where
# nothing has changed. cmake -DLIST=... -DROOT=... -DVERSION=... -DOUT=... -P WriteSourceDigest.cmake
file(STRINGS ${LIST} sources)
set(digests)
foreach(source IN LISTS sources)
  file(SHA256 ${ROOT}/${source} digest)
  string(APPEND digests "${source} ${digest}\n")
endforeach()
string(SHA256 digest "${digests}")
string(SUBSTRING ${digest} 0 16 digest)
set(text "// Written by cmake/WriteSourceDigest.cmake.
#define SKIM_PROJECT_VERSION \"${VERSION}\"
#define SKIM_SOURCE_DIGEST \"${digest}\"
")
set(before)
if(EXISTS ${OUT})
  file(READ ${OUT} before)
endif()
if(NOT before STREQUAL text)
  file(WRITE ${OUT} "${text}")
endif()

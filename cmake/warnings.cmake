# Warnings for our own code, on both compilers; SENNIT_WERROR (set in CI) makes each one an error.
add_library(sennit_warnings INTERFACE)
target_compile_options(sennit_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough
  -Wunused -Wcast-align $<IF:$<CXX_COMPILER_ID:GNU>,-Wshadow=local,-Wshadow>
  $<$<BOOL:${SENNIT_WERROR}>:-Werror>)

# GCC 12 reports overlaps and overflows inside std::string and std::vector that cannot happen
# (GCC bugs 105651 and 105762); 13 does not.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(sennit_warnings INTERFACE -Wno-restrict -Wno-stringop-overflow)
endif()

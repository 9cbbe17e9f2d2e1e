# Warnings for our own code, on both compilers; SENNIT_WERROR (set in CI) makes each one an error.
add_library(sennit_warnings INTERFACE)
target_compile_options(sennit_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough
  -Wunused -Wcast-align $<IF:$<CXX_COMPILER_ID:GNU>,-Wshadow=local,-Wshadow> $<$<BOOL:${SENNIT_WERROR}>:-Werror>)

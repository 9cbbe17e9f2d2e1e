# sennit_module(<name> [USES <module>...] [HEADERS_USE <module>...] [LINKS <target>...]
#               [PRIVATE_LINKS <target>...])
#
# Makes sennit::<name> from sennit/<name>/: every .hpp outside detail/ is public, the *_test.cpp files are
# one test program (test_<name>), the *_perf.cpp files one program of performance tests (perf_<name>), a
# *_fuzz.cpp is a fuzz target of its own, and every other .cpp or .S is part of the library. USES is the
# whole list of sennit modules this one may include; tools/check/layers.py reads it too. HEADERS_USE adds
# those that only headers include which stand apart: who includes such a header links them, the library
# does not.
function(sennit_module name)
  cmake_parse_arguments(arg "" "" "USES;HEADERS_USE;LINKS;PRIVATE_LINKS" ${ARGN})
  set(dir ${PROJECT_SOURCE_DIR}/sennit/${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${dir}/*.cpp ${dir}/*.S)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${dir}/*.hpp)
  set(tests ${sources})
  set(perfs ${sources})
  set(fuzzers ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER perfs INCLUDE REGEX "_perf\\.cpp$")
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_(test|perf|fuzz)\\.cpp$")
  list(FILTER headers EXCLUDE REGEX "/detail/")
  list(TRANSFORM arg_USES PREPEND sennit::)
  list(TRANSFORM arg_HEADERS_USE PREPEND sennit::)

  add_library(sennit_${name} ${sources})
  add_library(sennit::${name} ALIAS sennit_${name})
  target_sources(sennit_${name} PUBLIC FILE_SET HEADERS
    BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${headers})
  target_link_libraries(sennit_${name}
    PUBLIC ${arg_USES} ${arg_LINKS}
    PRIVATE $<BUILD_INTERFACE:sennit_warnings> ${arg_PRIVATE_LINKS})

  if(BUILD_TESTING AND tests)
    find_package(GTest REQUIRED)
    add_executable(test_${name} ${tests})
    target_link_libraries(test_${name}
      PRIVATE sennit::${name} ${arg_HEADERS_USE} sennit_test_main sennit_warnings ${arg_PRIVATE_LINKS})
    # Several files at a time: what they include, GoogleTest above all, is read once for each batch.
    set_target_properties(test_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    add_test(NAME ${name} COMMAND test_${name} --gtest_brief=1)
  endif()

  if(SENNIT_PERF AND perfs)
    add_executable(perf_${name} ${perfs})
    target_link_libraries(perf_${name}
      PRIVATE sennit::${name} ${arg_HEADERS_USE} sennit_warnings sennit::perftest)
  endif()

  if(SENNIT_FUZZ)
    foreach(fuzzer IN LISTS fuzzers)
      cmake_path(GET fuzzer STEM stem)
      string(REGEX REPLACE "_fuzz$" "" stem ${stem})
      add_executable(fuzz_${name}_${stem} ${fuzzer})
      target_link_libraries(fuzz_${name}_${stem} PRIVATE sennit::${name} sennit_warnings)
      target_link_options(fuzz_${name}_${stem} PRIVATE -fsanitize=fuzzer)
    endforeach()
  endif()
endfunction()

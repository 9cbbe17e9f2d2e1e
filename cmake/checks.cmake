# The style as tests: ctest -L check. Each is a program of tools/check/ and ends within seconds. They look
# at the sources, so one build kind running them is enough; sanitized builds leave them out.
if(BUILD_TESTING AND NOT SENNIT_SANITIZE)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)

  function(sennit_check name)
    add_test(NAME check_${name} COMMAND ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(check_${name} PROPERTIES LABELS check TIMEOUT 300)
  endfunction()

  set(check ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/check)
  sennit_check(layers ${check}/layers.py)
  sennit_check(tidy ${check}/tidy.py)
  sennit_check(format ${check}/format.py)
  sennit_check(header_budget ${check}/headers.py --compiler ${CMAKE_CXX_COMPILER})
  sennit_check(readme ${check}/readme.py)
  sennit_check(the_checks ${check}/check_test.py)

  # Built before, as make test does, there is nothing left to do here.
  sennit_check(headers_compile_alone
    ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target all_verify_interface_header_sets)
  set_tests_properties(check_headers_compile_alone PROPERTIES RUN_SERIAL ON TIMEOUT 1800)
endif()

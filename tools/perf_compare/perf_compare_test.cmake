# Runs ${program} on reports written to ${dir} and checks its exit status and words.
function(report name times)
  file(WRITE ${dir}/${name}.json
    "{\"format\":\"sennit-perftest-1\",\"machine\":{\"class\":\"c\"},\"tests\":"
    "[{\"name\":\"A.b\",\"ns_per_call\":{\"repetitions\":[${times}]}}]}")
endfunction()

function(expect status words)
  execute_process(COMMAND ${program} ${ARGN} WORKING_DIRECTORY ${dir}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result STREQUAL status OR NOT output MATCHES "${words}")
    message(FATAL_ERROR "${ARGN}: wanted ${status} and \"${words}\", got ${result}:\n${output}")
  endif()
endfunction()

report(old "100,101,99,100,102")
report(same "101,100,99,102,100")
report(slow "120,121,119,118,122")
file(WRITE ${dir}/broken.json "{")

expect(0 "1 the same" old.json same.json)
expect(1 "A.b .* SLOWER" old.json slow.json)
expect(0 "faster" slow.json old.json)
expect(0 "1 the same" --threshold=50 old.json slow.json)
expect(0 "Exit status" --help)
expect(2 "OLD.json NEW.json" old.json)
expect(2 "OLD.json NEW.json" --threshold=x old.json same.json)
expect(2 "could not read broken.json" old.json broken.json)
expect(2 "could not open missing.json" missing.json old.json)

# Included by ctest, once per test program: makes ctest's tests of what the program lists. A TEST is
# one of ctest's; so is each family of parametrised cases, as thousands of processes would take
# longer to start than to run. Needs `program`, `area` and `directory`.
execute_process(COMMAND ${program} --gtest_list_tests WORKING_DIRECTORY ${directory}
                OUTPUT_VARIABLE listing RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "cannot list the tests of ${program}: is it built? (${failed})")
endif()

# discovered(<name> <filter>). Tests run beside each other; threads that spin while they wait would
# take the others' cores (20 times slower).
function(discovered name filter)
  add_test(${name} ${program} --gtest_brief=1 --gtest_filter=${filter})
  set_tests_properties(${name} PROPERTIES WORKING_DIRECTORY ${directory} LABELS ${area} TIMEOUT 120
                       ENVIRONMENT OMP_WAIT_POLICY=passive
                       FAIL_REGULAR_EXPRESSION "] 0 tests")
endfunction()

string(REPLACE ";" "," listing "${listing}")
string(REPLACE "\n" ";" listing "${listing}")
foreach(line IN LISTS listing)
  if(line MATCHES "^([^ ]+)\\.( .*)?$")
    set(suite ${CMAKE_MATCH_1})
    string(FIND ${suite} "/" parametrised)
    if(NOT parametrised EQUAL -1)
      discovered(${suite} ${suite}.*)
    endif()
  elseif(line MATCHES "^  ([^ ]+)" AND parametrised EQUAL -1)
    discovered(${suite}.${CMAKE_MATCH_1} ${suite}.${CMAKE_MATCH_1})
  endif()
endforeach()

# Read by ctest, not by the build: each suite of a test program is one case, so that what starts with a process (sanitizers, a
# PostgreSQL) starts once for the suite and not for each of its tests. ctest counts cases; the file that a case writes below
# `results` says which tests of it passed. Given: module, program, timeout_s, results, and on_each_instruction_set and
# on_one_instruction_set_less: suites that run once more for each lower instruction set, or for the highest of these.
include("${CMAKE_CURRENT_LIST_DIR}/long_tests.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/instruction_sets.cmake")
if(NOT EXISTS "${program}")
  add_test("${module}_is_not_built" "${module}_is_not_built")
  return()
endif()

# What the program lists is kept until it is built again.
set(listed "${results}/${module_as_file}.suites")
if(NOT EXISTS "${listed}" OR "${program}" IS_NEWER_THAN "${listed}")
  execute_process(COMMAND "${program}" --gtest_list_tests OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
  # A suite is "Name." at the begin of a line; for some a comment follows.
  string(REGEX MATCHALL "(^|\n)[A-Za-z0-9_/]+\\." suites "${output}")
  list(TRANSFORM suites REPLACE "[\n.]" "")
  file(WRITE "${listed}" "${suites}")
endif()
file(READ "${listed}" suites)

function(add_suite name suite environment)
  string(REPLACE "/" "_" file "${name}")
  add_test("${name}" "${program}" "--gtest_filter=${suite}.*")
  set_tests_properties("${name}" PROPERTIES TIMEOUT ${timeout_s} LABELS "${module}"
    ENVIRONMENT "GTEST_OUTPUT=xml:${results}/${file}.xml;GTEST_BRIEF=1;${environment}")
  begin_early("${name}")
endfunction()

# Once more on each of `sets` if one of `patterns` matches.
function(add_suite_on sets suite patterns)
  list(JOIN patterns "|" pattern)
  if("${pattern}" STREQUAL "" OR NOT suite MATCHES "${pattern}")
    return()
  endif()
  foreach(instruction_set IN LISTS sets)
    string(TOLOWER "${instruction_set}" word)
    add_suite("${module}.${suite}.on_${word}" "${suite}" "ONEDNN_MAX_CPU_ISA=${instruction_set}")
  endforeach()
endfunction()

set(highest "${instruction_sets}")
if(highest)
  list(GET highest -1 highest)
endif()
foreach(suite IN LISTS suites)
  add_suite("${module}.${suite}" "${suite}" "")
  add_suite_on("${instruction_sets}" "${suite}" "${on_each_instruction_set}")
  add_suite_on("${highest}" "${suite}" "${on_one_instruction_set_less}")
endforeach()

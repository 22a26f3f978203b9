# Long tests begin first: one that begins last runs while the other CPUs have nothing left to do. ctest learns that from its own
# runs, which a new clone has none of. long_tests.txt: "seconds name", what ctest measured; a name that is no test is harmless.
include_guard()
file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/long_tests.txt" long_tests)
foreach(line IN LISTS long_tests)
  string(REGEX MATCH "^([0-9]+) (.+)$" line "${line}")
  set("long_test_${CMAKE_MATCH_2}" ${CMAKE_MATCH_1})
endforeach()

macro(begin_early name)
  if(DEFINED "long_test_${name}")
    set_tests_properties("${name}" PROPERTIES COST "${long_test_${name}}")
  endif()
endmacro()

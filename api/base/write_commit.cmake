# Writes SOURCE with the commit of the clone FOLDER, or COMMIT where it is given, unless it says so already.
if(NOT COMMIT)
  execute_process(COMMAND git -C ${FOLDER} rev-parse --short=12 HEAD OUTPUT_VARIABLE COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    set(COMMIT unknown)
  endif()
endif()
file(CONFIGURE OUTPUT ${SOURCE} @ONLY CONTENT "#include \"api/base/version.h\"

std::string_view slipway::source_commit() {
    return \"@COMMIT@\";
}
")
file(TOUCH ${SOURCE})

#pragma once

#include <spdlog/common.h>

#include "api/base/log.h"

namespace slipway {

/// Lines go to stderr and, unless it is null, into `sink` from now on. For log.cpp and
/// log_file.cpp.
void start_logging_into(LogLevel least, spdlog::sink_ptr sink);

}    // namespace slipway

#pragma once

#include <spdlog/common.h>

#include "api/base/log.h"

namespace slipway {

/// Where lines go from now on.
struct LogSinks {
    spdlog::sink_ptr file = nullptr;    ///< null: no file
    bool to_stderr = true;
};

/// For log.cpp and log_file.cpp.
void start_logging_into(LogLevel least, LogSinks sinks);

}    // namespace slipway

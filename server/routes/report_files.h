#pragma once

#include <string>

#include "scheduler/store/jobs.h"
#include "server/http/files.h"
#include "server/routes/services.h"

namespace slipway::routes {

/// A file that the job's executor wrote into the folder of its report.
/// errors  404 `no_report` as long as the job has not got so far
OpenedFile report_file(const Context& context, const store::Job& job, const std::string& name);

/// All of a file; what an executor wrote is read with care: its job's owner may have made it write
/// anything.
/// errors  throws data_loss when it is larger than `report_bytes_max`
std::string read_whole(const OpenedFile& file);
inline constexpr std::size_t report_bytes_max = std::size_t(256) << 20;

}    // namespace slipway::routes

#pragma once

#include <cstddef>
#include <string>

#include "scheduler/store/jobs.h"
#include "server/http/files.h"
#include "server/routes/services.h"

namespace slipway::routes {

/// A file that the job's executor wrote into the folder of its report.
/// errors  404 `no_report` as long as the job has not got so far
OpenedFile report_file(const Context& context, const store::Job& job, const std::string& name);

/// What a worker may hold of a report while it answers: parsed, a file of `report_bytes_max` takes
/// some times its size.
inline constexpr std::size_t report_bytes_max = std::size_t(32) << 20;
inline constexpr std::size_t joined_bytes_max = std::size_t(64) << 20;

/// All of a file; what an executor wrote is read with care: its job's owner may have made it write
/// anything.
/// errors  422 `report_too_large` when the file has more than `bytes_max`
std::string read_whole(const OpenedFile& file, std::size_t bytes_max);

/// 422 `report_too_large`: answering would read more into memory than is good for all.
[[noreturn]] void throw_report_too_large(std::string detail);

}    // namespace slipway::routes

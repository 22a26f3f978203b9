#pragma once

#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/client/http_client.h"
#include "api/client/listing.h"
#include "api/client/service.h"

namespace slipway::client {

/// The commands that watch jobs while they run and put them beside each other; as commands.h.

struct LogOptions {
    std::string job_id = {};
    std::string search = {};    ///< only lines whose message contains it; empty: all
    std::string level = {};     ///< only lines of this level or a more severe one; empty: all
    std::string since = {};     ///< as of since_time; empty: from the beginning
    bool follow = false;        ///< until the job ends
};
/// With `follow` the exit code tells the outcome of the job.
ExitCode print_logs(const HttpClient& client, const LogOptions& options);
/// "10m" (s, m, h, d): so long ago; or a time in RFC 3339. errors  throws Stop{usage}
Instant since_time(const std::string& text);

/// The jobs that hold cores, with their rates: again and again on a terminal until it is
/// interrupted, else once.
ExitCode print_top(const HttpClient& client);
/// What differs between the specs of 2 to 20 jobs, and their metrics: a row for each field.
/// named   as of find_id
Listing compare_jobs(const HttpClient& client, const std::vector<std::string>& named);

}    // namespace slipway::client

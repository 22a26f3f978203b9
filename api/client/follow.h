#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "api/base/json.h"
#include "api/client/http_client.h"
#include "api/client/progress_line.h"
#include "api/client/service.h"
#include "api/client/sse_parser.h"

namespace slipway::client {

/// Adds what one event of a job's stream says. False after the last one (`end`).
bool take_event(JobView& view, const SseEvent& event);

struct FollowOptions {
    bool curves = false;    ///< on a terminal the losses are drawn above the line
};

/// Follows a job to its end: one line updated in place on a terminal, else a line per epoch and
/// state. Broken connections are taken up again where they broke (Last-Event-ID) for as long as
/// the service comes back within five minutes. Ends with accuracy, time and where to look further.
/// The exit code tells the outcome. errors  throws Stop
ExitCode follow_job(const HttpClient& client, const std::string& job_id,
                    const FollowOptions& options = {});

/// Where a job failed, of its `result`, as far as it is known: "step 118, epoch 2, operation
/// matmul, replica 3"; empty: it is not.
std::string failure_place(const Json& result);

/// The exit code of a job in this end state.
ExitCode exit_code_of(std::string_view state);

}    // namespace slipway::client

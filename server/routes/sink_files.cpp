#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "server/http/problem.h"
#include "server/routes/handlers.h"
#include "server/routes/lookup.h"
#include "server/routes/render.h"
#include "server/routes/report_files.h"

namespace slipway::routes {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view event_file_mark = "events.out.tfevents.";

// In the order in which they were made: their names begin with the second.
std::vector<std::string> event_files(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code absent;
    for (const auto& entry : fs::directory_iterator(folder, absent))
        if (const std::string name = entry.path().filename(); name.starts_with(event_file_mark))
            names.push_back(name);
    std::ranges::sort(names);
    return names;
}

}    // namespace

Response get_job_metrics_table(const Context& context, const store::Job& job) {
    return file_response(context.request, report_file(context, job, "metrics.csv"),
                         {.media_type = "text/csv; charset=utf-8",
                          .download_name = job.name + ".csv",
                          .etag = {},
                          .cache_control = "private, no-cache"});
}

// An event file is a row of records: one behind the other, the files of all attempts are one, too.
Response get_job_tensorboard(const Context& context) {
    const store::Job job = the_job(context);
    const fs::path folder =
        context.services.artifacts.locate(Artifact::report, job.id, "tensorboard");
    const std::vector<std::string> names = event_files(folder);
    if (names.empty())
        throw ProblemError(
            {.status = 404,
             .code = "no_report",
             .detail = fmt::format("job {} is {} and has no event file; one is written while it "
                                   "runs when monitor.sinks has tensorboard",
                                   job.id, to_string(job.state))});
    if (names.size() == 1)
        return file_response(context.request,
                             report_file(context, job, "tensorboard/" + names.front()),
                             {.media_type = "application/octet-stream",
                              .download_name = names.front(),
                              .etag = {},
                              .cache_control = "private, no-cache"});
    std::string events;
    for (const std::string& name : names) {
        const OpenedFile file = report_file(context, job, "tensorboard/" + name);
        if (file.bytes > joined_bytes_max - events.size())
            throw_report_too_large(fmt::format(
                "the {} event files of job {} have more than {} MiB together; its curves can be "
                "read in pages of /v1/jobs/{}/metrics",
                names.size(), job.id, joined_bytes_max >> 20, job.id));
        events += read_whole(file, joined_bytes_max);
    }
    return text_response(std::move(events), "application/octet-stream")
        .with("Content-Disposition", attachment_disposition(names.front()));
}

}    // namespace slipway::routes

// What the machine does now: the jobs that hold cores, from the lists that the service has anyway,
// so that a figure here is the figure of the dashboard.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "api/base/clock.h"
#include "api/base/plural.h"
#include "api/client/commands_table.h"
#include "api/client/progress_line.h"
#include "api/client/service.h"
#include "api/client/watch_commands.h"

namespace slipway::client {
namespace {

constexpr std::chrono::seconds refresh_every{2};
constexpr const char* active_states =
    "starting,compiling,running,finishing,preempting,pausing,cancelling";

struct CoreUse {
    std::size_t busy = 0;
    std::size_t free = 0;
    std::size_t drained = 0;
    std::map<std::string, std::vector<int>> by_job = {};
};

CoreUse read_cores(const HttpClient& client) {
    CoreUse use;
    const Json page = get(client, "/v1/cores");
    for (const Json& core : page.at("items")) {
        const std::string state = text_of(core, "state");
        if (state == "busy") ++use.busy;
        if (state == "free") ++use.free;
        if (state == "drained") ++use.drained;
        const std::string job = text_of(core, "job_id");
        if (!job.empty()) use.by_job[job].push_back(core.value("core", 0));
    }
    return use;
}

// "1-8", "1,3".
std::string core_list(std::vector<int> cores) {
    std::ranges::sort(cores);
    std::string text;
    for (std::size_t i = 0; i < cores.size();) {
        std::size_t last = i;
        while (last + 1 < cores.size() && cores[last + 1] == cores[last] + 1)
            ++last;
        text += fmt::format("{}{}", text.empty() ? "" : ",", cores[i]);
        if (last > i) text += fmt::format("-{}", cores[last]);
        i = last + 1;
    }
    return text.empty() ? "–" : text;
}

std::string seconds_cell(const Json& object, const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_number() ? duration_text(found->get<double>()) : "–";
}

std::string elapsed_text(const Json& job) {
    const auto started = parse_rfc3339(text_of(job, "started_at"));
    if (!started) return "–";
    return duration_text(std::chrono::duration<double>(system_clock().now() - *started).count());
}

std::string rate_text(const Json& progress) {
    const auto found = progress.find("samples_per_s");
    return found != progress.end() && found->is_number()
               ? fmt::format("{:.0f}", found->get<double>())
               : "–";
}

std::string of_total(const Json& progress, const char* name, const char* total) {
    return progress.contains(name)
               ? fmt::format("{}/{}", cell(progress, name), cell(progress, total))
               : "–";
}

Listing running_jobs(const HttpClient& client, const CoreUse& cores) {
    Listing listing{
        .head = {"id", "name", "state", "cores", "epoch", "step", "samples/s", "elapsed", "eta"},
        .items = get_items(client, fmt::format("/v1/jobs?order_by=-created_at&state={}",
                                               percent_encode(active_states)))};
    for (const Json& job : listing.items) {
        const std::string id = text_of(job, "id");
        const Json found = job.value("progress", Json());
        const Json progress = found.is_object() ? found : Json::object();
        const auto held = cores.by_job.find(id);
        listing.rows.push_back({id, cut_to(cell(job, "name"), 24), cell(job, "state"),
                                held == cores.by_job.end() ? "–" : core_list(held->second),
                                of_total(progress, "epoch", "epochs"),
                                of_total(progress, "step", "steps_total"), rate_text(progress),
                                elapsed_text(job), seconds_cell(progress, "eta_s")});
    }
    return listing;
}

std::string top_text(const HttpClient& client) {
    const CoreUse cores = read_cores(client);
    const Json stats = get(client, "/v1/queue/stats");
    std::string head =
        fmt::format("{} of {} cores busy", cores.busy, cores.busy + cores.free + cores.drained);
    if (cores.drained > 0) head += fmt::format(", {} drained", cores.drained);
    head += fmt::format(", {} queued\n\n", counted(stats.at("jobs").get<std::int64_t>(), "job"));
    return head + listing_text(running_jobs(client, cores), OutputForm::table, colours_wanted());
}

}    // namespace

ExitCode print_top(const HttpClient& client) {
    const bool is_terminal = isatty(STDOUT_FILENO) == 1;
    for (;;) {
        // All of it is read before the screen is cleared: it does not flicker.
        const std::string text = top_text(client);
        fmt::print("{}{}", is_terminal ? "\x1b[H\x1b[J" : "", text);
        if (std::fflush(stdout) != 0 || !is_terminal) return ExitCode::ok;
        pause_for(refresh_every);
    }
}

}    // namespace slipway::client

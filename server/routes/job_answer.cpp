#include "server/routes/job_answer.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "server/routes/lookup.h"
#include "server/routes/render.h"

namespace slipway::routes {

namespace {

/// Seconds until its estimated start.
std::optional<double> eta_of(const Context& context, const store::Job& job) {
    const auto estimates = start_estimates(context, {job.id});
    const auto found = estimates.find(job.id);
    if (found == estimates.end()) return std::nullopt;
    const auto left = found->second.at - context.services.clock.now();
    return std::max(0.0, std::chrono::duration<double>(left).count());
}

}    // namespace

Response job_response(const store::Job& job, std::optional<int> position, int status,
                      std::optional<double> eta_s) {
    return json_text_response(render(job, position, eta_s), status)
        .with("ETag", version_etag(job.version));
}

std::optional<int> position_of(const Context& context, const store::Job& job) {
    if (job.state != JobState::queued) return std::nullopt;
    return store::find_queue_position(context.services.store, job.id);
}

Response watched_job(const Context& context, const store::Job& job) {
    if (auto later = context.services.long_polls.wait(
            context.request, std::string(to_string(job.state)), is_final(job.state)))
        return *std::move(later);
    const std::optional<int> position = position_of(context, job);
    return job_response(job, position, 200, position ? eta_of(context, job) : std::nullopt);
}

Response job_list(const store::Page<store::Job>& page) {
    std::vector<JsonText> items;
    for (const store::Job& job : page.items)
        items.push_back(render(job, std::nullopt));
    return json_text_response(render_list(items, page.next_cursor));
}

}    // namespace slipway::routes

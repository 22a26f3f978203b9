#include "server/routes/job_answer.h"

#include <nlohmann/json.hpp>

#include "server/routes/render.h"

namespace slipway::routes {

Response job_response(const store::Job& job, std::optional<int> position, int status) {
    return json_text_response(render(job, position), status)
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
    return job_response(job, position_of(context, job));
}

Response job_list(const store::Page<store::Job>& page) {
    std::vector<JsonText> items;
    for (const store::Job& job : page.items)
        items.push_back(render(job, std::nullopt));
    return json_text_response(render_list(items, page.next_cursor));
}

}    // namespace slipway::routes

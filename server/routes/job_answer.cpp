#include "server/routes/job_answer.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "server/routes/idempotency.h"
#include "server/routes/query.h"
#include "server/routes/render.h"

namespace slipway::routes {

Response job_response(const store::Job& job, std::optional<int> position, int status) {
    return json_response(render(job, position), status).with("ETag", version_etag(job.version));
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

Response job_list(const Context& context, const store::JobFilter& filter, store::JobOrder order,
                  bool descending) {
    const auto page = store::list_jobs(context.services.store, filter, query_page(context.request),
                                       order, descending);
    Json items = Json::array();
    for (const store::Job& job : page.items)
        items.push_back(render(job, std::nullopt));
    return json_response(render_list(std::move(items), page.next_cursor));
}

Response submit(const Context& context, const store::NewJob& job, std::string_view location) {
    const auto render_first = [location](const store::Job& made) {
        return to_stored(job_response(made, std::nullopt, 201)
                             .with("Location", fmt::format("{}{}", location, made.id)));
    };
    QueuedJobs& queued = *context.services.queued_jobs;
    const std::int64_t queued_max = context.services.limits.queued_jobs;
    queued.refresh(job.project, job.created_by, queued_max);
    const store::Submitted submitted = store::submit_job(
        context.services.store, job, idempotent_request(context.request, context.who), render_first,
        [&] { queued.add(job.project, job.created_by, queued_max); });
    if (submitted.replayed) return from_stored(submitted.response, true);
    context.services.on_queued();
    return from_stored(submitted.response, false).with("ETag", version_etag(submitted.job.version));
}

Json queue_place(const Context& context, QueueClass job_class) {
    const int rank = static_cast<int>(job_class);
    return {{"position", store::next_queue_position(context.services.store, rank)},
            {"eta_s", nullptr}};
}

std::string made_name(std::string_view word, std::string_view job_id) {
    return fmt::format("{}-{}", word, job_id.substr(job_id.size() - 6));
}

}    // namespace slipway::routes

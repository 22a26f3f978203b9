#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "api/base/id.h"
#include "server/http/files.h"
#include "server/http/problem.h"
#include "server/routes/handlers.h"
#include "server/routes/lookup.h"
#include "server/routes/problems.h"
#include "server/routes/query.h"
#include "server/routes/render.h"

namespace slipway::routes {
namespace {

namespace fs = std::filesystem;

// The row's entry of that name: only what the row lists is served.
std::optional<Json> listed_file(const store::Checkpoint& checkpoint, const std::string& name) {
    for (const Json& one : stored_json(checkpoint.files))
        if (one.is_object() && one.value("name", "") == name) return one;
    return std::nullopt;
}

/// errors  410 `gone` when it is not kept, or not here
OpenedFile open_file(const Context& context, const store::Checkpoint& checkpoint,
                     const std::string& name) {
    const auto gone = [&](std::string_view why) {
        return ProblemError({.status = 410,
                             .code = "gone",
                             .detail = fmt::format("checkpoint {} {}", checkpoint.id, why)});
    };
    if (checkpoint.deleted_at) throw gone("is no longer kept");
    const auto file = open_below(context.services.artifacts.folder(Artifact::checkpoint),
                                 fmt::format("{}/{}/{}", checkpoint.job_id, checkpoint.name, name));
    if (!file) throw gone("is not on this machine's disk");
    return *file;
}

Response set_pin(const Context& context, bool pinned) {
    const store::Checkpoint checkpoint = the_checkpoint(context);
    if (checkpoint.deleted_at)
        throw Error{ErrorCode::conflict,
                    fmt::format("checkpoint {} is no longer kept", checkpoint.id)};
    const auto changed = store::pin_checkpoint(context.services.store, checkpoint.id, pinned);
    if (!changed) throw_not_found("checkpoint", checkpoint.id);
    return json_text_response(render(*changed));
}

// How often a request that waits for an export looks whether it is there.
constexpr double look_every_s = 0.1;

std::string query_word(const Request& request, std::string_view name, const char* standard) {
    std::string word = query_text(request, name);
    return word.empty() ? standard : word;
}

}    // namespace

Response list_checkpoints(const Context& context) {
    store::CheckpointFilter filter;
    filter.projects = projects_asked(context);
    filter.job_id = query_text(context.request, "job");
    if (!filter.job_id.empty() && !is_id("job", filter.job_id))
        throw_not_found("job", filter.job_id);
    const auto page =
        store::list_checkpoints(context.services.store, filter, query_page(context.request));
    std::vector<JsonText> items;
    for (const store::Checkpoint& one : page.items)
        items.push_back(render(one));
    return json_text_response(render_list(items, page.next_cursor));
}

Response get_checkpoint(const Context& context) {
    return json_text_response(render(the_checkpoint(context)));
}

Response delete_checkpoint(const Context& context) {
    const store::Checkpoint checkpoint = the_checkpoint(context);
    if (!store::delete_checkpoint(context.services.store, checkpoint.id))
        throw_not_found("checkpoint", checkpoint.id);
    return no_content();
}

Response pin_checkpoint(const Context& context) {
    return set_pin(context, true);
}

Response unpin_checkpoint(const Context& context) {
    return set_pin(context, false);
}

Response get_checkpoint_file(const Context& context) {
    const store::Checkpoint checkpoint = the_checkpoint(context);
    const std::string& name = context.request.parameter("name");
    const auto listed = listed_file(checkpoint, name);
    if (!listed) throw_not_found("file of this checkpoint", name);
    return file_response(context.request, open_file(context, checkpoint, name),
                         {.media_type = std::string(media_type_of(name)),
                          .download_name = name,
                          .etag = fmt::format("\"{}\"", listed->value("sha256", checkpoint.id)),
                          .cache_control = "private, no-cache"});
}

Response get_checkpoint_weights(const Context& context) {
    const store::Checkpoint checkpoint = the_checkpoint(context);
    const auto listed = listed_file(checkpoint, "model.safetensors");
    if (!listed) throw_not_found("file of this checkpoint", "model.safetensors");
    open_file(context, checkpoint, "model.safetensors");    // or it is gone
    const std::string dtype = query_word(context.request, "dtype", "f32");
    const std::string weights = query_word(context.request, "weights", "average");
    const auto job = store::find_job(context.services.store, checkpoint.job_id);
    if (!job) throw_not_found("checkpoint", checkpoint.id);    // deleted at this moment
    if (context.services.exports == nullptr)
        throw Error(ErrorCode::unavailable, "this service cannot export weights");
    const auto file = context.services.exports->ask(
        {.project = job->project,
         .checkpoint = context.services.artifacts.locate(Artifact::checkpoint, checkpoint.job_id,
                                                         checkpoint.name),
         .dtype = dtype,
         .weights = weights},
        context.who.token_id);
    if (!file) return Response{.again_after_s = look_every_s};
    // The same checkpoint and words give the same bytes: a download that broke off can go on.
    return file_response(
        context.request, *file,
        {.media_type = "application/octet-stream",
         .download_name = fmt::format("{}.safetensors", checkpoint.name),
         .etag =
             fmt::format("\"{}-{}-{}\"", listed->value("sha256", checkpoint.id), dtype, weights),
         .cache_control = "private, no-cache"});
}

}    // namespace slipway::routes

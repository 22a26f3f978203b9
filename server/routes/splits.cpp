#include "scheduler/store/splits.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "api/base/id.h"
#include "scheduler/submission/split_fit_check.h"
#include "server/http/files.h"
#include "server/http/problem.h"
#include "server/routes/bodies.h"
#include "server/routes/handlers.h"
#include "server/routes/lookup.h"
#include "server/routes/problems.h"
#include "server/routes/query.h"
#include "server/routes/render.h"

namespace slipway::routes {

Response create_split(const Context& context) {
    const store::Dataset dataset = the_dataset(context);
    const SplitCreate body = read_body(context.request, decode_split_create, "the split");
    require_project(context.who, context.endpoint.access, dataset.project);
    require_not_failed(dataset);
    throw_problems(submission::check_split_fit(body, dataset), "invalid_body", "the split");
    const store::StoredSplit split = store::create_split(context.services.store,
                                                         {.id = new_id("spl"),
                                                          .dataset_id = dataset.id,
                                                          .request = encode(body).dump(),
                                                          .created_by = context.who.token_id},
                                                         context.services.limits.making_splits);
    context.services.on_changed();
    return json_response(render(split), 201)
        .with("Location", fmt::format("/v1/datasets/{}/splits/{}", dataset.id, split.id));
}

Response list_splits(const Context& context) {
    const store::Dataset dataset = the_dataset(context);
    const auto page =
        store::list_splits(context.services.store, dataset.id, query_page(context.request));
    Json items = Json::array();
    for (const store::StoredSplit& one : page.items)
        items.push_back(render(one));
    return json_response(render_list(std::move(items), page.next_cursor));
}

Response get_split(const Context& context) {
    const store::StoredSplit split = the_split(context);
    const bool settled = split.state != store::SplitState::making;
    if (auto later = context.services.long_polls.wait(context.request,
                                                      std::string(to_string(split.state)), settled))
        return *std::move(later);
    return json_response(render(split));
}

Response get_split_manifest(const Context& context) {
    const store::StoredSplit split = the_split(context);
    if (split.state != store::SplitState::ready) {
        throw Error{ErrorCode::conflict, fmt::format("the split {} has no manifest: it is {}",
                                                     split.id, to_string(split.state))};
    }
    const std::string name = split.id + ".json";
    const auto file = open_below(context.services.artifacts.folder(Artifact::split), name);
    if (!file) {
        throw ProblemError({.status = 410,
                            .code = "gone",
                            .detail = fmt::format("the manifest of split {} is not on this "
                                                  "machine's disk; make the split again",
                                                  split.id)});
    }
    return file_response(context.request, *file,
                         {.media_type = "application/json",
                          .download_name = name,
                          .etag = fmt::format("\"{}\"", split.hash),
                          .cache_control = "private, no-cache"});
}

Response delete_split(const Context& context) {
    const store::StoredSplit split = the_split(context);
    if (!store::delete_split(context.services.store, split.id)) throw_not_found("split", split.id);
    context.services.on_changed();
    return no_content();
}

}    // namespace slipway::routes

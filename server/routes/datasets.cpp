#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "api/base/id.h"
#include "server/http/problem.h"
#include "server/routes/bodies.h"
#include "server/routes/dataset_check.h"
#include "server/routes/handlers.h"
#include "server/routes/lookup.h"
#include "server/routes/problems.h"
#include "server/routes/query.h"
#include "server/routes/render.h"

namespace slipway::routes {
namespace {

std::vector<Problem> check_upload(const Context& context, const std::string& id) {
    const auto refuse = [](std::string code, std::string message) -> std::vector<Problem> {
        return {
            {.pointer = "/source/upload", .code = std::move(code), .message = std::move(message)}};
    };
    const auto upload = find_own_upload(context.services.store, context.who, id);
    if (!upload) return refuse("not_found", fmt::format("there is no upload `{}`", id));
    if (!upload->complete)
        return refuse(
            "inconsistent",
            fmt::format("the upload {} is not complete: POST /v1/uploads/{}/complete", id, id));
    return {};
}

/// The upload's row goes with its becoming a dataset, so its name is kept here.
Json source_of(const Context& context, const DatasetCreate& body) {
    if (!body.source.path.empty()) return {{"path", body.source.path}};
    Json source{{"upload", body.source.upload}};
    std::string filename = body.source.filename;
    const auto upload = store::find_upload(context.services.store, body.source.upload);
    if (filename.empty() && upload) filename = upload->filename;
    if (!filename.empty()) source["filename"] = filename;
    return source;
}

DatasetCreate read_dataset(const Context& context) {
    const DatasetCreate body = read_body(context.request, decode_dataset_create, "the dataset");
    require_project(context.who, context.endpoint.access, body.project);
    const std::vector<Problem> problems =
        body.source.path.empty()
            ? check_upload(context, body.source.upload)
            : check_dataset_path(body.source.path, body.project, context.services.dataset_roots);
    throw_problems(problems, "invalid_body", "the dataset");
    return body;
}

}    // namespace

Response create_dataset(const Context& context) {
    const DatasetCreate body = read_dataset(context);
    if (query_flag(context.request, "dry_run")) return json_response(encode(body));
    store::NewDataset made;
    made.id = new_id("ds");
    made.project = body.project;
    made.name = body.name;
    made.format = to_string(body.format);
    made.source = source_of(context, body).dump();
    made.options = encode_dataset_options(body).dump();
    made.created_by = context.who.token_id;
    const TenantLimits& limits = context.services.limits;
    const store::Dataset dataset = store::create_dataset(context.services.store, made,
                                                         {.checking_max = limits.checking_datasets,
                                                          .projects_max = limits.projects,
                                                          .stored_max = limits.stored_bytes});
    context.services.on_changed();
    return json_response(render(dataset), 201)
        .with("Location", "/v1/datasets/" + dataset.id)
        .with("ETag", version_etag(dataset.version));
}

Response list_datasets(const Context& context) {
    store::DatasetFilter filter;
    filter.projects = projects_asked(context);
    filter.format = query_text(context.request, "format");
    filter.name_contains = query_text(context.request, "name");
    const std::string state = query_text(context.request, "state");
    for (const auto one :
         {store::DatasetState::checking, store::DatasetState::ready, store::DatasetState::failed})
        if (state == to_string(one)) filter.state = one;
    const auto page =
        store::list_datasets(context.services.store, filter, query_page(context.request));
    Json items = Json::array();
    for (const store::Dataset& one : page.items)
        items.push_back(render(one));
    return json_response(render_list(std::move(items), page.next_cursor));
}

Response get_dataset(const Context& context) {
    const store::Dataset dataset = the_dataset(context);
    const bool settled = dataset.state != store::DatasetState::checking;
    if (auto later = context.services.long_polls.wait(
            context.request, std::string(to_string(dataset.state)), settled))
        return *std::move(later);
    return json_response(render(dataset)).with("ETag", version_etag(dataset.version));
}

Response delete_dataset(const Context& context) {
    const store::Dataset dataset = the_dataset(context);
    if (!store::delete_dataset(context.services.store, dataset.id))
        throw_not_found("dataset", dataset.id);
    context.services.on_changed();
    return no_content();
}

Response get_dataset_preview(const Context& context) {
    const store::Dataset dataset = the_dataset(context);
    require_ready(dataset);
    Json preview = stored_json(store::find_dataset_preview(context.services.store, dataset.id));
    if (!preview.is_object()) {
        throw ProblemError({.status = 404,
                            .code = "not_found",
                            .detail = fmt::format("dataset {} was checked before samples were kept "
                                                  "to look at; create it again",
                                                  dataset.name)});
    }
    Json& items = preview["items"];
    const auto count = query_number(context.request, "n", 8);
    if (std::int64_t(items.size()) > count) items.erase(items.begin() + count, items.end());
    return json_response(preview);
}

}    // namespace slipway::routes

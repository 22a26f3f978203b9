#include "scheduler/store/cross_validations.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "scheduler/cross_validation/checked_request.h"
#include "server/http/files.h"
#include "server/http/problem.h"
#include "server/routes/bodies.h"
#include "server/routes/cross_validation_answer.h"
#include "server/routes/event_list.h"
#include "server/routes/handlers.h"
#include "server/routes/lookup.h"
#include "server/routes/query.h"
#include "server/routes/render.h"
#include "server/routes/state_sentence.h"

namespace slipway::routes {
namespace {

CheckedCrossValidation read_cross_validation(const Context& context) {
    auto request = decode_cross_validation(parse_body(context.request));
    if (request.ok()) require_project(context.who, context.endpoint.access, request.value.project);
    auto checked = check_cross_validation(std::move(request), submitter_of(context.who),
                                          context.services.store);
    throw_problems(checked.problems, "invalid_spec", "the cross-validation");
    return std::move(checked.value);
}

Json preview_cross_validation(const Context& context, const CheckedCrossValidation& checked) {
    std::optional<std::string> split_id;
    if (checked.stored_split) split_id = checked.stored_split->id;
    if (checked.spec.split) {
        split_id = store::find_equal_split(context.services.store, checked.job.dataset_id(),
                                           encode(*checked.spec.split).dump());
    }
    const auto folds = folds_of(checked);
    return {{"spec", encode(checked.spec)},
            {"dataset_id", checked.job.dataset_id()},
            {"split_id", split_id ? Json(*split_id) : Json(nullptr)},
            {"folds", folds ? Json(*folds) : Json(nullptr)},
            {"warnings", render_warnings(checked.warnings)},
            {"effective", checked.job.effective}};
}

std::vector<store::StoredFold> folds_of(const Context& context, const store::CrossValidation& of) {
    return store::list_folds(context.services.store, of.id);
}

}    // namespace

Response create_cross_validation(const Context& context) {
    CheckedCrossValidation checked = read_cross_validation(context);
    store::require_class(context.services.store, checked.spec.project,
                         to_string(checked.spec.job.queue.job_class));
    if (query_flag(context.request, "dry_run"))
        return json_response(preview_cross_validation(context, checked));
    const Json warnings = render_warnings(checked.warnings);
    StorableCrossValidation made = storable(std::move(checked), context.who.token_id);
    const store::CrossValidation stored =
        store::create_cross_validation(context.services.store, std::move(made.wanted), made.split,
                                       context.services.limits.making_splits);
    context.services.on_changed();
    context.services.on_queued();
    Json out = render(stored);
    out["warnings"] = warnings;
    return json_response(out, 201).with("Location",
                                        fmt::format("/v1/cross-validations/{}", stored.id));
}

Response list_cross_validations(const Context& context) {
    const auto page = store::list_cross_validations(
        context.services.store,
        {.projects = projects_asked(context), .states = query_words(context.request, "state")},
        query_page(context.request));
    Json items = Json::array();
    for (const store::CrossValidation& one : page.items)
        items.push_back(render(one));
    return json_response(render_list(std::move(items), page.next_cursor));
}

Response get_cross_validation(const Context& context) {
    const store::CrossValidation one = the_cross_validation(context);
    if (auto later = context.services.long_polls.wait(
            context.request, std::string(to_string(one.state)), store::has_ended(one.state)))
        return *std::move(later);
    return json_response(render(one));
}

Response delete_cross_validation(const Context& context) {
    const store::CrossValidation one = the_cross_validation(context);
    if (!store::has_ended(one.state)) {
        throw Error{ErrorCode::conflict,
                    fmt::format("cross-validation {} is {}; cancel it, and delete it when it has "
                                "ended",
                                one.id, to_string(one.state))};
    }
    while (store::delete_jobs_of_parent(context.services.store, one.id) > 0) {
    }
    if (!store::delete_cross_validation(context.services.store, one.id))
        throw_not_found("cross-validation", one.id);
    context.services.on_changed();
    return no_content();
}

Response cancel_cross_validation(const Context& context) {
    const store::CrossValidation one = the_cross_validation(context);
    store::cancel_cross_validation(context.services.store, one.id,
                                   {"cancelled", "cancelled on request"});
    const auto now = store::find_cross_validation(context.services.store, one.id);
    if (!now) throw_not_found("cross-validation", one.id);
    using enum store::CrossValidationState;
    if (now->state == succeeded || now->state == failed) {
        throw ProblemError({.status = 409,
                            .code = "illegal_transition",
                            .detail = illegal_transition_sentence(
                                "the cross-validation", to_string(now->state), "cancelled"),
                            .items = {{.pointer = "/state",
                                       .code = std::string(to_string(now->state)),
                                       .message = "it has ended",
                                       .allowed = {}}}});
    }
    context.services.on_queued();
    return json_response(render(*now));
}

Response list_cross_validation_folds(const Context& context) {
    const store::CrossValidation one = the_cross_validation(context);
    const auto split = store::find_split(context.services.store, one.split_id);
    const Json report = split ? stored_json(split->report) : Json(nullptr);
    return json_response(render_folds(one, folds_of(context, one), report));
}

Response get_cross_validation_summary(const Context& context) {
    const store::CrossValidation one = the_cross_validation(context);
    return json_response(render_summary(one, folds_of(context, one)));
}

Response list_cross_validation_events(const Context& context) {
    const store::CrossValidation of = the_cross_validation(context);
    return event_list(context, of.id, of.project);
}

Response compare_cross_validations(const Context& context) {
    const store::CrossValidation first = the_cross_validation(context);
    const std::string with = query_text(context.request, "with");
    if (with.empty()) {
        throw_problems({{"?with",
                         "missing_field",
                         "with is required: the id of the cross-validation to compare with",
                         {}}},
                       "invalid_query", "the query");
    }
    const store::CrossValidation second = the_cross_validation(context, with);
    if (first.split_hash.empty() || first.split_hash != second.split_hash) {
        throw ProblemError(
            {.status = 409,
             .code = "different_splits",
             .detail = fmt::format("{} and {} do not have the same split ({}, {}): only values of "
                                   "the same folds can be compared; create one of them again with "
                                   "the split_id of the other",
                                   first.id, second.id, first.split_id, second.split_id)});
    }
    return json_response(
        render_comparison(first, folds_of(context, first), second, folds_of(context, second)));
}

Response get_cross_validation_oof(const Context& context) {
    const store::CrossValidation one = the_cross_validation(context);
    if (!one.oof) {
        throw ProblemError({.status = 404,
                            .code = "no_result",
                            .detail = fmt::format("cross-validation {} is {} and has no "
                                                  "out-of-fold predictions; they are there when "
                                                  "every fold has succeeded, unless "
                                                  "outputs.oof_predictions is false",
                                                  one.id, to_string(one.state))});
    }
    const auto file = open_below(context.services.artifacts.folder(Artifact::report),
                                 fmt::format("{}/oof.csv", one.id));
    if (!file) {
        throw ProblemError({.status = 410,
                            .code = "gone",
                            .detail = fmt::format("the out-of-fold predictions of {} are not on "
                                                  "this machine's disk",
                                                  one.id)});
    }
    return file_response(context.request, *file,
                         {.media_type = "text/csv; charset=utf-8",
                          .download_name = one.name + "-oof.csv",
                          .etag = fmt::format("\"{}\"", one.oof->sha256),
                          .cache_control = "private, no-cache"});
}

}    // namespace slipway::routes

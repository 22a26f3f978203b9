// Folds that did not succeed, tried again. What can be done is read from the folds and written in
// one transaction that looks at their states once more: the coordinator may move them meanwhile.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "api/base/parsed_json.h"
#include "api/spec/cross_validation_spec.h"
#include "api/spec/requests.h"
#include "scheduler/cross_validation/fold_job.h"
#include "scheduler/cross_validation/fold_progress.h"
#include "scheduler/store/cross_validations.h"
#include "scheduler/store/stored_json.h"
#include "server/routes/bodies.h"
#include "server/routes/handlers.h"
#include "server/routes/lookup.h"
#include "server/routes/query.h"
#include "server/routes/render.h"

namespace slipway::routes {
namespace {

using store::CrossValidationState;
using store::StoredFold;

struct FailedFold {
    StoredFold fold;
    std::string code;
};

struct ChosenFolds {
    std::vector<FailedFold> failed{};
    std::vector<FailedFold> chosen{};
};

// A fold that never had its turn did not fail for a reason of its own: it goes with the others.
bool is_chosen(const FailedFold& fold, const std::vector<std::string>& codes) {
    return codes.empty() || fold.code == "not_made" ||
           std::ranges::find(codes, fold.code) != codes.end();
}

ChosenFolds choose_folds(std::vector<StoredFold> folds, const std::vector<std::string>& codes) {
    ChosenFolds choice;
    for (StoredFold& fold : folds) {
        auto code = failure_code(fold);
        if (!code) continue;
        choice.failed.push_back({std::move(fold), *std::move(code)});
        if (is_chosen(choice.failed.back(), codes)) choice.chosen.push_back(choice.failed.back());
    }
    return choice;
}

[[noreturn]] void refuse(const store::CrossValidation& of, std::string_view why) {
    throw Error{ErrorCode::conflict, fmt::format("cross-validation {} {}", of.id, why)};
}

// What would end again at once is left as it is.
void require_room(const Context& context, const store::CrossValidation& of,
                  const ChosenFolds& choice) {
    if (of.state == CrossValidationState::cancelling)
        refuse(of, "is cancelling; try its folds again when it has ended");
    if (of.reason && of.reason->code == "split_failed")
        refuse(of, "has no folds: " + of.reason->message + "; create another one");
    if (!owner_of(context.services.store, of))
        refuse(of, "cannot continue: the token that created it may no longer submit jobs");
    const auto spec = decode_cross_validation(store::stored_json(of.spec));
    const bool ends_others =
        spec.ok() && spec.value.parallel.on_fold_failure == FoldFailure::cancel;
    if (!ends_others || choice.failed.size() == choice.chosen.size()) return;
    std::vector<std::string> left;
    for (const FailedFold& fold : choice.failed)
        if (std::ranges::find(choice.chosen, fold.fold.fold, [](const FailedFold& one) {
                return one.fold.fold;
            }) == choice.chosen.end())
            left.push_back(fmt::format("{} ({})", fold.fold.fold, fold.code));
    refuse(of, fmt::format("would end again at once: parallel.on_fold_failure is cancel, and these "
                           "folds would stay failed: {}; give their codes, too, or no codes",
                           fmt::join(left, ", ")));
}

Json render_failed(const FailedFold& failed) {
    const auto or_null = [](const std::string& text) {
        return text.empty() ? Json(nullptr) : Json(text);
    };
    const bool is_refit = failed.fold.fold == StoredFold::refit;
    return {{"fold", is_refit ? Json(nullptr) : Json(failed.fold.fold)},
            {"code", failed.code},
            {"reason", or_null(failed.fold.reason)},
            {"job_id", or_null(failed.fold.job_id)}};
}

Json retry_answer(const ChosenFolds& choice, CrossValidationState state, bool dry_run) {
    std::map<std::string, int> codes;
    for (const FailedFold& fold : choice.failed)
        ++codes[fold.code];
    Json items = Json::array();
    for (const FailedFold& fold : choice.chosen)
        items.push_back(render_failed(fold));
    return {{"dry_run", dry_run},
            {"state", to_string(state)},
            {"retried", choice.chosen.size()},
            {"left", choice.failed.size() - choice.chosen.size()},
            {"codes", codes},
            {"items", std::move(items)}};
}

std::vector<store::RetriedFold> retried(const ChosenFolds& choice) {
    std::vector<store::RetriedFold> folds;
    for (const FailedFold& one : choice.chosen)
        folds.push_back(
            {.fold = one.fold.fold, .state = one.fold.state, .has_trained = has_trained(one.fold)});
    return folds;
}

}    // namespace

Response retry_cross_validation(const Context& context) {
    const RetryFailedBody body = read_body(context.request, decode_retry_failed, "the request");
    const bool dry_run = query_flag(context.request, "dry_run");
    const store::CrossValidation one = the_cross_validation(context);
    const ChosenFolds choice =
        choose_folds(store::list_folds(context.services.store, one.id), body.codes);
    using enum CrossValidationState;
    const bool goes_on = one.state == failed || one.state == cancelled;
    // One that ended for another reason than its folds (its file, its training on all) goes on,
    // too.
    const bool does_something = !choice.chosen.empty() || (goes_on && choice.failed.empty());
    if (!does_something) return json_response(retry_answer(choice, one.state, dry_run));
    require_room(context, one, choice);
    if (dry_run) {
        const CrossValidationState after = !goes_on         ? one.state
                                           : one.started_at ? running
                                                            : preparing;
        return json_response(retry_answer(choice, after, true));
    }
    const store::CrossValidation now =
        store::retry_folds(context.services.store, one.id, one.state, retried(choice));
    context.services.on_changed();
    context.services.on_queued();
    return json_response(retry_answer(choice, now.state, false));
}

}    // namespace slipway::routes

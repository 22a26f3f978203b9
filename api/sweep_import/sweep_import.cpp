// A file is read by the reader of its kind into a draft, which gathers every problem before it is
// refused. Keys that are not known are refused: what is silently left out is found out when the
// trials have run.

#include "api/sweep_import/sweep_import.h"

#include <fmt/ranges.h>

#include "api/sweep_import/draft.h"
#include "api/sweep_import/yaml_json.h"

namespace slipway {

namespace {

/// What both kinds leave to the command line.
void finish_draft(SweepDraft& draft) {
    Json& limits = draft.body["limits"];
    if (draft.options.max_trials) limits["max_trials"] = *draft.options.max_trials;
    const Json& algorithm = draft.body["algorithm"];
    const std::string sampler = algorithm.contains("sampler")
                                    ? algorithm.at("sampler").value("name", "")
                                    : algorithm.value("name", "");
    if (sampler != "grid" && !limits.contains("max_trials"))
        draft.refuse("nothing says how many trials there are; --max-trials N does");
    for (const auto& [name, place] : draft.options.places)
        if (!draft.used_places.contains(name))
            draft.refuse(fmt::format("--map {}: the file has no such parameter", name));
    if (limits.empty()) draft.body.erase("limits");
}

}    // namespace

Result<ImportedSweep> import_sweep(std::string_view yaml, const SweepImportOptions& options) {
    const Result<Json> read = json_of_yaml(yaml);
    if (!read) return read.error();
    const Json& file = *read;
    SweepDraft draft{.options = options};
    if (options.job) draft.body["job"] = *options.job;
    if (file.is_object() && file.contains("searcher"))
        read_determined_experiment(draft, file);
    else if (file.is_object() && file.contains("method"))
        read_wandb_sweep(draft, file);
    else
        draft.refuse("the file has neither method (Weights & Biases) nor searcher (Determined)");
    if (draft.problems.empty()) finish_draft(draft);
    if (!draft.problems.empty())
        return Error(ErrorCode::invalid_argument,
                     fmt::format("{}", fmt::join(draft.problems, "\n")));
    return ImportedSweep{.body = std::move(draft.body), .notes = std::move(draft.notes)};
}

}    // namespace slipway

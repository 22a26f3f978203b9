#include "executor/train/run_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "executor/data/formats/part_names.h"
#include "executor/runtime/run_plan.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

fs::path epoch_report(const fs::path& folder, std::int64_t epoch, const char* ending) {
    return folder / "epochs" / fmt::format("{:06}{}", epoch, ending);
}

/// A reader sees the whole copy or none.
void copy_aside(const fs::path& from, const fs::path& to) {
    const fs::path part = fs::path(to) += ".tmp";
    // Not copy_file: it sets the copy's mode, which a confined executor may not.
    std::ofstream copy(part, std::ios::binary | std::ios::trunc);
    copy << std::ifstream(from, std::ios::binary).rdbuf();
    copy.close();
    std::error_code problem;
    if (!copy) problem.assign(errno != 0 ? errno : EIO, std::generic_category());
    if (!problem) fs::rename(part, to, problem);
    if (problem)
        throw Error{ErrorCode::unavailable,
                    fmt::format("cannot write {}: {}", to.string(), problem.message())};
}

/// The first names, for a message.
std::string first_of(std::span<const std::string> names) {
    constexpr std::size_t shown_max = 10;
    const std::size_t shown = std::min(names.size(), shown_max);
    return fmt::format("{}{}", fmt::join(names.first(shown), ", "),
                       shown < names.size() ? ", …" : "");
}

/// The first part for this purpose.
std::optional<std::string> of_kind(const std::vector<std::string>& parts, PartKind kind) {
    const auto found = std::ranges::find_if(
        parts, [&](const std::string& part) { return part_kind(part) == kind; });
    return found == parts.end() ? std::nullopt : std::optional(*found);
}

}    // namespace

void RunReport::workers(std::span<const std::optional<int>> cpus) {
    if (plan_.cpu_scope.empty()) return;
    std::vector<int> kept;
    for (const std::optional<int>& cpu : cpus)
        if (cpu) kept.push_back(*cpu);
    const auto free = cpus.size() - kept.size();
    if (!kept.empty())
        reporter_.log("info", fmt::format("workers are kept on CPU {}", fmt::join(kept, ", ")));
    if (free > 0)
        reporter_.log("info", fmt::format("{} workers run on any CPU: other jobs have the rest "
                                          "of the {} granted, or the system keeps no thread "
                                          "on a CPU",
                                          free, granted_cpus()));
}

void RunReport::chosen(const WorkerChoice& choice) {
    if (choice.changes() == choices_) return;
    choices_ = choice.changes();
    reporter_.log("info", choice.why());
}

void RunReport::skipped(const TrainData& data) {
    if (data.skipped.empty()) return;
    reporter_.warning("images_skipped",
                      fmt::format("{} damaged images are left out; the first is {}",
                                  data.skipped.size(), to_string(data.skipped.front())));
    for (const DataProblem& problem : data.skipped)
        reporter_.log("warn", "left out: " + to_string(problem));
}

void RunReport::pooled(const TrainData& data) {
    if (!plan_.spec.data.split.train_part.empty()) return;
    const std::vector<std::string>& parts =
        data.text ? data.text->sequences.part_names : data.raw->index().part_names;
    const auto train = of_kind(parts, PartKind::train);
    const auto val = of_kind(parts, PartKind::val), test = of_kind(parts, PartKind::test);
    if (!train || (!val && !test)) return;    // nothing that is usually kept apart
    reporter_.warning(
        "parts_pooled",
        fmt::format("training and validation samples are drawn from all parts of the dataset, also "
                    "from {}; set data.split.train to {} and data.split.val to {} to keep the "
                    "parts apart",
                    test ? *test : *val, *train, val ? *val : *test));
}

void RunReport::untrained(const TrainData& data) {
    if (data.text || !data.raw->index().target_names.empty()) return;
    const std::vector<std::string>& names = data.raw->index().class_names;
    const SplitCounts counts = count_split(data.raw->index(), data.split);
    std::vector<std::string> untrained;
    for (std::size_t i = 0; i < names.size(); ++i)
        if (counts.train_classes[i] == 0 && counts.val_classes[i] > 0)
            untrained.push_back(names[i]);
    if (untrained.empty()) return;
    reporter_.warning("class_untrained",
                      fmt::format("{} of {} classes have validation samples and no training "
                                  "sample, such as {}; set data.split.stratify, or another "
                                  "data.split.seed",
                                  untrained.size(), names.size(), untrained[0]));
}

void RunReport::started_from(std::span<const std::string> unknown,
                             std::span<const std::string> columns, const TrainData& data) {
    if (!unknown.empty())
        reporter_.warning(
            "weights_of_other_labels",
            fmt::format("the weights were trained without {}, whose rows of the head begin with "
                        "random values; set model.head.replace to true to replace the whole head",
                        first_of(unknown)));
    std::vector<std::string> gone;
    std::ranges::copy_if(columns, std::back_inserter(gone), [&](const std::string& column) {
        return std::ranges::find(data.columns, column) == data.columns.end();
    });
    if (!gone.empty() && !data.columns.empty())
        reporter_.warning("weights_of_other_columns",
                          fmt::format("the weights were trained on columns that this job does not "
                                      "have: {}; name the same columns in data.columns.features",
                                      first_of(gone)));
}

void RunReport::shared(const TrainData& data) {
    if (!data.shared.why_not.empty())
        reporter_.log("info", "images are decoded for this job alone: " + data.shared.why_not);
    if (data.shared.dataset) {
        reporter_.log("info", fmt::format("decoded images are shared with other jobs of this "
                                          "dataset: a file of {} bytes so far",
                                          data.shared.bytes));
    }
    const SharingOutcome& outcome = data.sharing;
    if (!outcome.why_not.empty())
        reporter_.log("info", "the dataset was read for this job alone: " + outcome.why_not);
    if (outcome.sharing == Sharing::none) return;
    const std::string waited =
        outcome.waited_s < 0.1 ? "" : fmt::format(", waited for {:.1f} s", outcome.waited_s);
    const bool made = outcome.sharing == Sharing::made;
    reporter_.log("info", fmt::format("the dataset was read {}: a copy of {} bytes, {}{}",
                                      made ? "now, for other jobs as well" : "by an earlier job",
                                      outcome.bytes,
                                      !made              ? "shared"
                                      : outcome.replaced ? "in place of a damaged one"
                                                         : "made now",
                                      waited));
}

void RunReport::packed(const TrainData& data) {
    if (!plan_.spec.data.packed) return;
    if (!data.packed.dataset) {
        reporter_.warning("not_packed",
                          "images are decoded, as without data.packed: " + data.packed.why_not);
        return;
    }
    reporter_.log("info",
                  fmt::format("{} packed images, {} bytes, {}", data.raw->size(), data.packed.bytes,
                              data.packed.made ? "made now" : "made by an earlier job"));
}

void RunReport::accepted(const TrainData& data) {
    if (!data.raw) return;    // text
    for (const DataProblem& problem : data.images().take_accepted())
        reporter_.warning("image_accepted", "taken as it is: " + to_string(problem));
    shared_so_far(data.shared);
    const std::int64_t refused = data.packed.dataset ? data.packed.refused_count() : 0;
    if (refused > refused_) {
        reporter_.warning("pack_damaged",
                          fmt::format("{} packed images are not as they were written and are "
                                      "decoded again; the pack is removed",
                                      refused));
    }
    refused_ = refused;
}

void RunReport::shared_so_far(const SharedImages& shared) {
    if (!shared.dataset) return;
    if (shared.refused_count() > 0 && said_.insert("refused").second) {
        reporter_.log("warn", "shared images are not as they were written and are decoded again");
    }
    const std::string why = shared.why_closed();
    if (!why.empty() && said_.insert("closed").second) {
        reporter_.log(
            "info",
            "images that are not in the shared file are decoded for this job alone: " + why);
    }
}

void RunReport::compiled(const std::string& name, const Graph& graph,
                         const Executable& executable) {
    try {
        explainer_.compiled(name, graph, executable);
    } catch (const Error& error) {
        complain(error);
    }
}

void RunReport::write(std::int64_t step, bool finished) {
    if (finished) try_writing(&EvaluationFile::write);
    try {
        explainer_.write(finished);
    } catch (const Error& error) {
        complain(error);
        return;
    }
    if (!explainer_.writes()) return;
    const Verdict verdict = explainer_.verdict();
    reporter_.reported({.step = step,
                        .finished = finished,
                        .verdict = std::string(verdict.kind),
                        .field = verdict.field,
                        .message = verdict.message});
}

void RunReport::write_when_due(std::int64_t step) {
    try_writing(&EvaluationFile::write_when_due);
    if (explainer_.due()) write(step, false);
}

void RunReport::gradient_norm(double norm, std::int64_t step) {
    if (std::isfinite(norm) || !said_.insert("gradient_norm").second) return;
    reporter_.warning(
        "nonfinite_gradient_norm",
        fmt::format("the norm of the gradients is {} at step {}: with clip_norm, such a step does "
                    "not change the weights; set data.normalize, or a smaller train.optimizer.lr",
                    norm, step));
}

void RunReport::ended(const Verdict& verdict) {
    if (verdict.kind == diverged_kind)
        reporter_.warning("diverged", verdict.message);
    else
        reporter_.log("info", verdict.message);
}

void RunReport::evaluated(EvaluationFacts facts) {
    const Json left_out = evaluation_json(facts)["left_out"];
    for (const Json& sentence : left_out)
        if (said_.insert(sentence.get<std::string>()).second)
            reporter_.log("info", sentence.get<std::string>());
    evaluation_.keep(std::move(facts));
    try_writing(&EvaluationFile::write_when_due);
}

void RunReport::try_writing(void (EvaluationFile::*how)()) {
    try {
        (evaluation_.*how)();
    } catch (const Error& error) {
        complain(error);
    }
}

void RunReport::epoch(const EpochSummary& summary) {
    explainer_.epoch(summary);
    reporter_.epoch(summary);
    if (plan_.spec.monitor.metrics_report != MetricsReport::epoch || !explainer_.writes()) return;
    write(summary.step, false);
    try {
        keep_report_of(summary);
    } catch (const Error& error) {
        complain(error);
    }
}

void RunReport::keep_report_of(const EpochSummary& summary) const {
    const fs::path& folder = plan_.report_folder;
    std::error_code shown_by_the_copy;
    fs::create_directories(folder / "epochs", shown_by_the_copy);
    for (const char* ending : {".json", ".txt"}) {
        copy_aside(folder / (std::string("report") + ending),
                   epoch_report(folder, summary.epoch, ending));
        std::error_code absent;
        fs::remove(epoch_report(folder, summary.epoch - epoch_reports_max, ending), absent);
    }
}

void RunReport::complain(const Error& error) {
    if (complained_) return;
    complained_ = true;
    reporter_.warning("report_failed", error.what());
}

}    // namespace slipway

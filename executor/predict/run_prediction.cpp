#include "executor/predict/run_prediction.h"

#include <fmt/format.h>

#include <numeric>
#include <span>
#include <utility>

#include "api/base/plural.h"
#include "executor/predict/ensemble_data.h"
#include "executor/predict/ensemble_networks.h"
#include "executor/predict/forward_run.h"
#include "executor/predict/prediction_file.h"
#include "executor/predict/sample_columns.h"
#include "executor/predict/task_columns.h"
#include "executor/train/failure_reasons.h"
#include "executor/train/pace.h"
#include "executor/train/run_options.h"
#include "executor/train/train_data.h"
#include "executor/train/train_error.h"
#include "executor/train/trained_samples.h"

// The network of the checkpoint, or each of an ensemble, runs forward over the samples in order, in
// global batches as training has them, so that the number of cores changes no bit. Rows are written
// as batches arrive, to a file that gets its name when it is complete. A sum over all batches shows
// that every sample was predicted once.
namespace slipway {

namespace {

/// As training's parts (part_count): with the same global batch one core computes the same parts
/// as eight. Batch norm reads its statistics here, so it asks for nothing else.
SamplerOptions prediction_sampler(std::int64_t batch_size_per_core, std::int64_t cores) {
    constexpr std::int64_t parts_max = 8;
    const std::int64_t parts = cores * std::gcd(parts_max / cores, batch_size_per_core);
    return {.batch_size_per_core = batch_size_per_core * cores / parts, .cores = parts};
}

/// Of the classes or labels; a text has none.
std::vector<std::string> trained_names(const AttemptPlan& plan) {
    if (language_task(plan.spec.model.arch)) return {};
    return read_trained_samples(plan.inference->checkpoint()).names;
}

/// A prediction in progress: what was resolved once.
class PredictionRun {
public:
    PredictionRun(const AttemptPlan& plan, Reporter& reporter)
        : plan_(plan),
          reporter_(reporter),
          cache_(open_cache(plan, reporter)),
          data_(open_train_data(plan)),
          batches_(batches()),
          sample_columns_(plan.spec, data_),
          task_columns_(
              task_columns(plan.spec, trained_names(plan), plan.inference->is_ensemble())),
          views_(plan, data_),
          engine_(engine_options(plan, batches_.options().cores, cache_.get())),
          pace_(system_clock()) {}

    TrainOutcome run() {
        report_skipped(data_, "have no row", reporter_);
        reporter_.state(JobState::compiling);
        const EnsembleNetworks networks(plan_, data_, engine_, wanted(), reporter_);
        reporter_.state(JobState::running);
        report_progress();
        PredictionFile file(plan_.report_folder / predictions_file_name);
        on_disk([&] { file.write(header()); });
        const StopReason stopped = predict(networks, file);
        if (stopped == StopReason::none) {
            reporter_.state(JobState::finishing);
            on_disk([&] { file.finish(); });
            reporter_.log("info", fmt::format("{} predicted", counted(samples_, "sample")));
        }
        return {.stopped = stopped,
                .step = step_,
                .epoch = 0,
                .stopped_early = {},
                .best = {},
                .final_values = {{"samples", double(samples_)}}};
    }

private:
    Sampler batches() const {
        const std::vector<std::int64_t>& chosen = data_.split.val;
        if (chosen.empty()) {
            throw TrainError("data_error",
                             "there is no sample to predict: the part or side of the "
                             "split that data names is empty");
        }
        const SamplerOptions options =
            prediction_sampler(plan_.inference->batch_size_per_core, plan_.spec.accelerator.cores);
        return evaluation_sampler(chosen, options.batch_size_per_core, options.cores);
    }

    EnsembleNetworks::Wanted wanted() const {
        return {.trace = task_columns_.trace,
                .batch = {batches_.options().batch_size_per_core, data_.evaluated().shape()},
                .program = "prediction_step",
                .advice = fmt::format("; a smaller batch_size_per_core than {} needs less",
                                      plan_.inference->batch_size_per_core)};
    }

    std::string header() const {
        std::string text = sample_columns_.header();
        for (const std::string& name : task_columns_.names)
            text += "," + csv_field(name);
        return text + "\n";
    }

    /// The only loop.
    StopReason predict(const EnsembleNetworks& networks, PredictionFile& file) {
        EnsembleLoader loader(views_, batches_, loader_options(plan_, data_));
        while (const auto views = loader.next()) {
            if (const StopReason reason = reporter_.stop_requested(); reason != StopReason::none)
                return reason;
            const LoadedBatch& batch = views->front();
            // The loader gives the sampler's batches in its order; it alone says whose rows are
            // whose.
            write_rows(file, batches_.next().value(), batch, networks.run(views_, *views));
            ++step_;
            samples_ += batch.sample_count;
            pace_.step(batch.sample_count);
            report_accepted(data_, reporter_);
            if (pace_.due()) report_progress();
        }
        if (samples_ != std::int64_t(data_.split.val.size()))
            throw Error(ErrorCode::internal, "a prediction did not see every sample once");
        report_progress();
        return StopReason::none;
    }

    /// `said`: what each network says of the batch.
    void write_rows(PredictionFile& file, const GlobalBatch& global, const LoadedBatch& batch,
                    const std::vector<Value>& said) const {
        const auto cores = std::size_t(batches_.options().cores);
        const auto size = std::size_t(batches_.options().batch_size_per_core);
        std::string csv;
        std::vector<OutputRow> rows(said.size());
        for (std::size_t entry = 0; entry < global.samples.size(); ++entry) {
            if (global.samples[entry] == GlobalBatch::padding) continue;
            const std::size_t core = entry % cores, place = entry / cores;
            for (std::size_t i = 0; i < said.size(); ++i)
                rows[i] = row_of(said[i], core, place, size);
            const Array& labels = batch.cores[core].labels;
            const auto bytes = std::size_t(labels.byte_count()) / size;
            sample_columns_.append(csv, global.samples[entry]);
            task_columns_.append(
                csv, rows, std::span(labels.bytes(), bytes * size).subspan(place * bytes, bytes));
            csv += '\n';
        }
        on_disk([&] { file.write(csv); });
    }

    void report_progress() {
        Progress progress{.epoch = 1,
                          .epochs = 1,
                          .step = step_,
                          .steps_total = batches_.batches_per_epoch(),
                          .samples = samples_,
                          .samples_per_s = 0,
                          .phase = "predict"};
        pace_.describe(progress);
        reporter_.progress(progress);
    }

    const AttemptPlan& plan_;
    Reporter& reporter_;
    const std::unique_ptr<ObjectCache> cache_;
    const TrainData data_;
    Sampler batches_;
    const SampleColumns sample_columns_;
    const TaskColumns task_columns_;
    const EnsembleViews views_;
    Engine engine_;
    Pace pace_;
    std::int64_t step_ = 0, samples_ = 0;
};

}    // namespace

TrainOutcome run_prediction(const AttemptPlan& plan, Reporter& reporter) {
    check(plan.inference.has_value(), "a prediction is asked for");
    return with_failure_reasons([&] { return PredictionRun(plan, reporter).run(); });
}

}    // namespace slipway

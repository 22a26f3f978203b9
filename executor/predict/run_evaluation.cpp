#include "executor/predict/run_evaluation.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "api/base/plural.h"
#include "executor/predict/ensemble_evaluation.h"
#include "executor/predict/forward_run.h"
#include "executor/predict/trained_job.h"
#include "executor/train/evaluate.h"
#include "executor/train/evaluation_file.h"
#include "executor/train/failure_reasons.h"
#include "executor/train/pace.h"
#include "executor/train/run_options.h"
#include "executor/train/settings.h"
#include "executor/train/task.h"

// An evaluation computes what the last evaluation of the training computed, so it takes from there
// what the order of sums depends on: the global batch and its parts, which the checkpoint names
// with the spec that it was trained by. The number of cores changes neither; it says how many
// threads there are to take parts. A plan of its own for the cores that are given was rejected: it
// would be faster where the training has fewer parts than cores, and its metrics would differ in
// their last bits from those that they are compared with. An ensemble takes them from its first
// checkpoint.
namespace slipway {

namespace {

TrainedJob training_of(const AttemptPlan& plan) {
    TrainedJob training = read_trained_job(plan.inference->checkpoint());
    // As many parts as threads were there then: nobody knows. Those that do not depend on threads.
    training.spec.train.deterministic = true;
    return training;
}

/// An evaluation in progress: what was resolved once.
class EvaluationRun {
public:
    EvaluationRun(const AttemptPlan& plan, Reporter& reporter)
        : plan_(plan),
          reporter_(reporter),
          cache_(open_cache(plan, reporter)),
          training_(training_of(plan)),
          batches_(sampler_options(training_.spec, threads_of(plan))),
          data_(open_train_data(plan)),
          task_(make_task(plan.spec, data_.label_names)),
          engine_(engine_options(plan, batches_.cores, cache_.get())),
          pace_(system_clock()) {}

    TrainOutcome run() {
        require_samples();
        report_skipped(data_, "are left out", reporter_);
        report_idle_cores();
        reporter_.state(JobState::compiling);
        const std::function<MetricSums()> measure =
            plan_.inference->is_ensemble() ? measure_ensemble() : measure_network();
        reporter_.state(JobState::running);
        report_progress();
        const MetricSums sums = measure();
        if (stopped_ == StopReason::none) report(sums);
        return {.stopped = stopped_,
                .step = training_.state.step,
                .epoch = training_.state.epoch,
                .stopped_early = {},
                .best = {},
                .final_values = std::move(result_)};
    }

private:
    void require_samples() const {
        if (!data_.split.val.empty()) return;
        throw TrainError("data_error",
                         "there is no sample to evaluate: the part or side of the split that data "
                         "names is empty");
    }

    void report_idle_cores() {
        const std::int64_t cores = plan_.spec.accelerator.cores;
        if (batches_.cores >= cores) return;
        reporter_.warning("cores_idle",
                          fmt::format("the training computes its batch in {} parts, and so does "
                                      "this evaluation; {} of the {} cores have nothing to do",
                                      batches_.cores, cores - batches_.cores, cores));
    }

    /// Compiles what a measurement runs; the result measures.
    std::function<MetricSums()> measure_network() {
        // What is refused of training, such as a core's batch of one sample, is of the training's
        // cores.
        Model model =
            build_model(training_.spec, data_.evaluated().shape().features.dims, data_.class_count,
                        Init::zeros(), data_.details(), plan_.inference->checkpoint());
        StepProgram program = compile_forward(
            engine_,
            trace_evaluation_step(model, task_,
                                  {batches_.batch_size_per_core, data_.evaluated().shape()}),
            "evaluation_step",
            "; raise accelerator.memory_bytes: the batch is that of the training", reporter_);
        std::vector<Array> network = load_network(model, plan_.inference->checkpoint(), reporter_);
        return [this, program = std::move(program), network = std::move(network)] {
            return evaluate(engine_, program, network,
                            {.samples = data_.evaluated(),
                             .chosen = data_.split.val,
                             .batch_size_per_core = batches_.batch_size_per_core,
                             .cores = batches_.cores,
                             .loader = loader_options(plan_, data_),
                             .goes_on = [this](std::int64_t count) { return goes_on(count); }});
        };
    }

    std::function<MetricSums()> measure_ensemble() {
        const auto evaluation =
            std::make_shared<EnsembleEvaluation>(EnsembleEvaluation::Parts{.plan = plan_,
                                                                           .data = data_,
                                                                           .task = task_,
                                                                           .engine = engine_,
                                                                           .reporter = reporter_},
                                                 batches_);
        return [this, evaluation] {
            return evaluation->measure([this](std::int64_t count) { return goes_on(count); });
        };
    }

    bool goes_on(std::int64_t sample_count) {
        ++step_;
        samples_ += sample_count;
        pace_.step(sample_count);
        report_accepted(data_, reporter_);
        if (pace_.due() || samples_ == sample_total()) report_progress();
        if (samples_ < sample_total()) stopped_ = reporter_.stop_requested();
        return stopped_ == StopReason::none;
    }

    void report(const MetricSums& sums) {
        reporter_.state(JobState::finishing);
        result_ = with_prefix("val_", task_.values(sums));
        warn_of_nonfinite();
        reporter_.metric(
            {.step = training_.state.step, .epoch = training_.state.epoch, .values = result_});
        const EvaluationFacts facts{.step = training_.state.step,
                                    .epoch = training_.state.epoch,
                                    .samples = samples_,
                                    .values = result_,
                                    .details = task_.details ? task_.details(sums) : Json()};
        const Json json = evaluation_json(facts);
        for (const Json& sentence : json.at("left_out"))
            reporter_.log("info", sentence.get<std::string>());
        if (!plan_.report_folder.empty())
            on_disk([&] { write_evaluation(plan_.report_folder, facts); });
        reporter_.log("info", fmt::format("{} evaluated", counted(samples_, "sample")));
        result_.emplace_back("samples", double(samples_));
    }

    void warn_of_nonfinite() {
        for (const auto& [name, value] : result_)
            if (!std::isfinite(value))
                reporter_.warning("nonfinite_metric", fmt::format("{} is {}", name, value));
    }

    std::int64_t sample_total() const { return std::int64_t(data_.split.val.size()); }

    void report_progress() {
        const std::int64_t batch = batches_.batch_size_per_core * batches_.cores;
        Progress progress{.epoch = 1,
                          .epochs = 1,
                          .step = step_,
                          .steps_total = (sample_total() + batch - 1) / batch,
                          .samples = samples_,
                          .samples_per_s = 0,
                          .phase = "evaluate"};
        pace_.describe(progress);
        reporter_.progress(progress);
    }

    const AttemptPlan& plan_;
    Reporter& reporter_;
    const std::unique_ptr<ObjectCache> cache_;
    const TrainedJob training_;
    const SamplerOptions batches_;
    const TrainData data_;
    const Task task_;
    Engine engine_;
    Pace pace_;
    std::int64_t step_ = 0, samples_ = 0;
    StopReason stopped_ = StopReason::none;
    MetricValues result_;
};

}    // namespace

TrainOutcome run_evaluation(const AttemptPlan& plan, Reporter& reporter) {
    check(plan.inference.has_value(), "an evaluation is asked for");
    return with_failure_reasons([&] { return EvaluationRun(plan, reporter).run(); });
}

}    // namespace slipway

#include "executor/train/run.h"

#include <fmt/format.h>

#include <cmath>

#include "executor/train/evaluate.h"
#include "executor/train/pace.h"
#include "executor/train/train_data.h"
#include "executor/train/train_state.h"

namespace slipway {

namespace {

using Values = std::vector<std::pair<std::string, double>>;

/// A job on one core gets one thread, in however many parts it computes.
int worker_count(const AttemptPlan& plan) {
    return plan.spec.accelerator.cores == 1 ? 1 : plan.worker_threads;
}

/// A run in progress: what was resolved once, and the state that moves.
class TrainingRun {
public:
    TrainingRun(const AttemptPlan& plan, Reporter& reporter)
        : plan_(plan),
          reporter_(reporter),
          data_(open_train_data(plan)),
          sampler_(data_.split.train, sampler_options(plan.spec)),
          settings_(make_settings(plan.spec, sampler_.batches_per_epoch())),
          model_(build_model(plan.spec, data_.dataset().index().feature_dims,
                             data_.dataset().index().class_count())),
          engine_({.cores = int(sampler_.options().cores),
                   .workers = worker_count(plan),
                   .memory_bytes_max = plan.memory_bytes_max}),
          pace_(system_clock()) {}

    TrainOutcome run() {
        compile();
        restore();
        reporter_.state("running");
        report_progress("train");
        const StopReason stopped = train();
        if (stopped == StopReason::none) reporter_.state("finishing");
        return outcome(stopped);
    }

private:
    void compile() {
        reporter_.state("compiling");
        const BatchShape batch{sampler_.options().batch_size_per_core,
                               data_.dataset().index().feature_dims};
        const TrainStep step = trace_train_step(model_, *settings_.optimizer, batch);
        train_program_ = compile_one("train_step", step.graph);
        if (data_.split.val.empty()) return;
        evaluation_program_ =
            compile_one("evaluation_step", trace_evaluation_step(model_, batch).graph);
    }

    std::shared_ptr<const Executable> compile_one(const std::string& name, const Graph& graph) {
        const EngineCounters before = engine_.counters();
        auto executable = engine_.compile(graph);
        const EngineCounters& after = engine_.counters();
        const Hash128 hash = hash_of(graph);
        reporter_.compiled({.program = name,
                            .hash = fmt::format("{:016x}{:016x}", hash.high, hash.low),
                            .seconds = after.compile_s - before.compile_s,
                            .cached = after.compiles == before.compiles,
                            .peak_bytes = engine_.memory(*executable).peak_bytes});
        return executable;
    }

    void restore() {
        if (!plan_.resume_from) {
            state_ = initial_state(model_, *settings_.optimizer);
            reporter_.log(
                "info",
                fmt::format("{} parameters, {} training and {} validation samples, "
                            "{} steps per epoch, {} worker threads",
                            model_.parameters.element_count(), data_.split.train.size(),
                            data_.split.val.size(), settings_.steps_per_epoch, engine_.workers()));
            return;
        }
        state_ = from_checkpoint(*plan_.resume_from, model_, settings_);
        sampler_.seek(state_.position);
        saved_step_ = state_.step;
        reporter_.log("info", fmt::format("resumed at step {} from {}", state_.step,
                                          plan_.resume_from->filename().string()));
    }

    /// The only loop: a batch, a step, what is due after it.
    StopReason train() {
        Loader loader(data_.dataset(), sampler_);
        while (state_.step < settings_.steps_total) {
            if (const StopReason reason = reporter_.stop_requested(); reason != StopReason::none) {
                // Cancelled work is not wanted again; all other reasons want to go on from here.
                if (reason != StopReason::cancel && state_.step > saved_step_) save({});
                return reason;
            }
            const auto batch = loader.next();
            check(batch.has_value(), "the sampler has as many batches as the settings say");
            step(*batch);
            after_step(*batch);
        }
        return StopReason::none;
    }

    void step(const LoadedBatch& batch) {
        std::vector<Value> leaves;
        leaves.reserve(state_.values.size() + 4);
        for (const Array& value : state_.values)
            leaves.push_back({{value}});
        const Hyper hyper = hyper_at(settings_, state_.step, batch.sample_count);
        leaves.push_back({{hyper_values(hyper)}});
        append_batch(leaves, batch);
        const std::vector<Value> outputs = engine_.run(*train_program_, leaves);
        for (std::size_t i = 0; i < state_.values.size(); ++i) {
            state_.values[i] = outputs[i].arrays[0];
        }
        loss_ = double(scalar_of(outputs[state_.values.size()]));
        accuracy_ =
            double(scalar_of(outputs[state_.values.size() + 1])) / double(batch.sample_count);
        lr_ = hyper.lr;
        ++state_.step;
        state_.samples += batch.sample_count;
        state_.position = batch.next;
        pace_.step(batch.sample_count);
    }

    void after_step(const LoadedBatch& batch) {
        const bool ended = state_.step == settings_.steps_total;
        const bool epoch_ended = batch.next.epoch != batch.position.epoch;
        if (!std::isfinite(loss_)) {
            throw TrainError("nan_loss", fmt::format("the loss became {} at step {}; a smaller "
                                                     "train.optimizer.lr (now {}) usually helps",
                                                     loss_, state_.step, lr_));
        }
        if (state_.step % settings_.log_every_steps == 0 || ended) {
            reporter_.metric(
                {.step = state_.step,
                 .epoch = batch.position.epoch + 1,
                 .values = {{"train_loss", loss_}, {"train_accuracy", accuracy_}, {"lr", lr_}}});
        }
        if (pace_.due() || ended || epoch_ended) report_progress("train");

        Values evaluated;
        if ((epoch_ended || ended) && evaluation_program_) evaluated = evaluate_now(batch);
        const std::int64_t epochs_done = batch.position.epoch + 1;
        const bool save_now =
            ended ||
            (settings_.save_every_steps > 0 && state_.step % settings_.save_every_steps == 0) ||
            (epoch_ended && settings_.save_every_epochs > 0 &&
             epochs_done % settings_.save_every_epochs == 0);
        if (save_now) save(evaluated);
    }

    Values evaluate_now(const LoadedBatch& batch) {
        report_progress("evaluate");
        const auto parameter_count = model_.parameters.all().size();
        const Evaluation result =
            evaluate(engine_, *evaluation_program_, std::span(state_.values).first(parameter_count),
                     {.dataset = data_.dataset(),
                      .samples = data_.split.val,
                      .batch_size_per_core = sampler_.options().batch_size_per_core,
                      .cores = sampler_.options().cores});
        final_values_ = {{"val_loss", result.loss}, {"val_accuracy", result.accuracy}};
        reporter_.metric(
            {.step = state_.step, .epoch = batch.position.epoch + 1, .values = final_values_});
        return final_values_;
    }

    void save(const Values& evaluated) {
        const std::string name = fmt::format("step_{:06}_attempt_{}", state_.step, plan_.attempt);
        KeptCheckpoints::Entry entry{name, state_.step, metric_in(evaluated)};
        KeepDecision decision = keep(settings_.keep, state_.kept, entry);
        state_.kept = decision.kept;
        SavedCheckpoint saved{.name = name,
                              .step = state_.step,
                              .epoch = state_.step / settings_.steps_per_epoch,
                              .kinds = decision.kinds,
                              .files = {},
                              .metric = {},
                              .drop = decision.drop};
        if (entry.metric) saved.metric = {{settings_.keep.metric, *entry.metric}};
        for (const WrittenFile& file : write(name)) {
            saved.files.push_back({file.name, file.bytes, file.sha256});
        }
        saved_step_ = state_.step;
        reporter_.checkpoint(saved);
    }

    /// A failed save ends the run at once: training on without checkpoints would lose it all later.
    std::vector<WrittenFile> write(const std::string& name) const {
        try {
            return save_checkpoint(
                plan_.checkpoint_folder, name,
                to_checkpoint(state_, model_, settings_, std::uint64_t(plan_.spec.train.seed)));
        } catch (const Error& error) {
            throw TrainError("disk_full", error.what());
        }
    }

    /// What the best checkpoint is judged by, when this save follows an evaluation.
    std::optional<double> metric_in(const Values& evaluated) const {
        for (const auto& [name, value] : evaluated) {
            if (name == settings_.keep.metric) return value;
        }
        return std::nullopt;
    }

    void report_progress(const std::string& phase) {
        Progress progress{.epoch = std::min(settings_.epochs, state_.position.epoch + 1),
                          .epochs = settings_.epochs,
                          .step = state_.step,
                          .steps_total = settings_.steps_total,
                          .samples = state_.samples,
                          .samples_per_s = 0,
                          .eta_s = 0,
                          .phase = phase};
        pace_.describe(progress);
        reporter_.progress(progress);
    }

    TrainOutcome outcome(StopReason stopped) const {
        TrainOutcome result{.stopped = stopped,
                            .step = state_.step,
                            .epoch = state_.step / settings_.steps_per_epoch,
                            .best = {},
                            .final_values = final_values_};
        if (!state_.kept.best.empty()) {
            result.best = {{settings_.keep.metric, *state_.kept.best[0].metric}};
        }
        return result;
    }

    const AttemptPlan& plan_;
    Reporter& reporter_;
    TrainData data_;
    Sampler sampler_;
    TrainSettings settings_;
    Model model_;
    Engine engine_;
    Pace pace_;
    std::shared_ptr<const Executable> train_program_;
    std::shared_ptr<const Executable> evaluation_program_;    ///< none without validation samples
    TrainState state_;
    std::int64_t saved_step_ = -1;
    double loss_ = 0, accuracy_ = 0, lr_ = 0;    ///< of the last step
    Values final_values_;
};

}    // namespace

TrainOutcome run_training(const AttemptPlan& plan, Reporter& reporter) {
    try {
        return TrainingRun(plan, reporter).run();
    } catch (
        const DataError& problem) {    // the job's failure code is decided here, not by readers
        throw TrainError("data_error", problem.what());
    } catch (const TrainError&) {
        throw;
    } catch (const Error& error) {
        // The engine's and the sampler's refusals are about sizes the spec asks for.
        if (error.code() == ErrorCode::exhausted) throw TrainError("out_of_memory", error.what());
        if (error.code() == ErrorCode::invalid_argument)
            throw TrainError("spec_error", error.what());
        throw;
    }
}

}    // namespace slipway

// One loop over batches; after the last batch of a step come, in this order, what the step
// reported, evaluation, checkpoint, and the question whether to stop. All decisions are taken on
// values that were reduced over all cores, and what they depend on (the best values, early
// stopping, the position of the sampler) is part of the checkpoint: a run that is killed and
// resumed takes the same decisions and has the same bits. A stop within a step drops what its
// batches have added up.
#include "executor/train/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "api/base/plural.h"
#include "executor/explain/explainer.h"
#include "executor/processor/instruction_set.h"
#include "executor/train/attempt_members.h"
#include "executor/train/checkpoint_record.h"
#include "executor/train/checkpoint_saver.h"
#include "executor/train/epoch_meter.h"
#include "executor/train/evaluate.h"
#include "executor/train/failure_reasons.h"
#include "executor/train/initial_weights.h"
#include "executor/train/make_update_plan.h"
#include "executor/train/pace.h"
#include "executor/train/programs.h"
#include "executor/train/quiet_reporter.h"
#include "executor/train/resumed_spec.h"
#include "executor/train/run_options.h"
#include "executor/train/run_report.h"
#include "executor/train/step_in_progress.h"
#include "executor/train/task.h"
#include "executor/train/ties.h"
#include "executor/train/train_data.h"
#include "executor/train/train_error.h"
#include "executor/train/train_state.h"
#include "executor/train/trained_samples.h"
#include "executor/train/work_at_hand.h"

namespace slipway {

namespace {

/// A run in progress: what was resolved once, and the state that moves.
class TrainingRun {
public:
    TrainingRun(const AttemptPlan& plan, Reporter& reporter)
        : plan_(plan),
          reporter_(reporter),
          started_(system_clock().tick()),
          members_(plan, reporter),
          cache_(open_cache(plan, reporter)),
          data_(open_train_data(plan)),
          sampler_(data_.split.train, sampler_options(plan.spec, part_threads(plan)),
                   data_.label_count()),
          settings_(make_settings(plan.spec, sampler_.steps_per_epoch(), part_threads(plan))),
          model_(build_model(plan.spec, data_.training->shape().features.dims, data_.class_count,
                             initial_values(plan), data_.details(), network_source(plan))),
          task_(make_task(plan.spec, data_.label_names)),
          update_(make_update_plan(plan.spec, model_.parameters)),
          engine_(engine_options_of(plan)),
          explainer_(engine_,
                     explain_options(plan, sampler_.options(), data_, cache_.get(), started_),
                     system_clock()),
          report_(plan, reporter, explainer_, system_clock()),
          pace_(system_clock()),
          epoch_(system_clock()),
          at_hand_(plan.position) {
        explainer_.ended(Phase::open_data, started_, system_clock().tick());
    }

    TrainOutcome run() {
        try {
            const TrainOutcome outcome = run_to_the_end();
            report_.write(state_.step, true);
            return outcome;
        } catch (const Error&) {
            if (plan_.on_failure) plan_.on_failure(failure().dump());
            finish_saving_of_failed();
            report_.write(state_.step,
                          true);    // what it did until then is worth knowing all the more
            throw;
        }
    }

private:
    TrainOutcome run_to_the_end() {
        require_validation();
        report_.workers(engine_.worker_cpus());
        report_.shared(data_);
        report_.packed(data_);
        report_.skipped(data_);
        report_.pooled(data_);
        report_.untrained(data_);
        warn_of_warm_up();
        if (!model_.warning.empty()) reporter_.warning("exported_for_evaluation", model_.warning);
        reporter_.state(JobState::compiling);
        programs_ = compile_programs({plan_, sampler_.options(), data_, model_, task_, update_},
                                     {engine_, explainer_, report_, reporter_});
        restore();
        members_.start([this] { return agreed_facts(); });
        const std::string other_sets = members_.other_instruction_sets();
        if (!other_sets.empty()) reporter_.warning("instruction_sets_differ", other_sets);
        saver_.emplace(plan_.checkpoint_folder, reporter_, bytes_beside_programs());
        reporter_.begin(state_.step);
        reporter_.state(JobState::running);
        report_progress("train");
        if (!steps_left()) evaluate_finished();
        const StopReason stopped = train();
        if (said_step_ != state_.step) report_progress("train");
        finish_saving();
        if (stopped == StopReason::none) require_finite_validation();
        report_.ended(explainer_.verdict());
        if (stopped == StopReason::none) reporter_.state(JobState::finishing);
        return outcome(stopped);
    }

    EngineOptions engine_options_of(const AttemptPlan& plan) const {
        EngineOptions options =
            engine_options(plan, members_.own(sampler_.options().cores).count, cache_.get());
        options.collectives = members_.collectives();
        return options;
    }

    std::vector<AgreedFact> agreed_facts() const {
        std::vector<AgreedFact> facts{
            {"the step to begin at", std::uint64_t(state_.step)},
            {"the number of training samples", data_.split.train.size()},
            {"the number of validation samples", data_.split.val.size()},
            {"the content of the data", digest_of(data_.content_hash), true},
            {"the spec", digest_of(trained_spec(plan_.spec).dump()), true},
            weights()};
        for (const StepProgram* program : programs_.all())
            facts.push_back({"what a program adds up",
                             digest_of_exchange(engine_.program(*program->executable),
                                                engine_.exchange_plan(*program->executable)),
                             true});
        return facts;
    }

    AgreedFact weights() const { return {"the weights", digest_of(state_.values), true}; }

    /// After the last checkpoint is saved: what was trained can be looked at, and is no success.
    void require_finite_validation() const {
        const auto loss = value_in(final_values_, "val_loss");
        if (!loss || std::isfinite(*loss)) return;
        throw TrainError("nan_loss",
                         fmt::format("the validation loss is {} at step {}, the last; "
                                     "a smaller train.optimizer.lr (now {:.6g}) usually "
                                     "helps",
                                     *loss, state_.step, lr_));
    }

    Json failure() const {
        return describe_failure(at_hand_.failed(state_.step, engine_.failed_step()), sampler_,
                                data_.training->shape());
    }

    /// With train.steps the spec is refused; epochs become steps only here.
    void warn_of_warm_up() const {
        const Schedule& schedule = settings_.schedule;
        if (schedule.warmup_steps == 0 || schedule.warmup_steps < schedule.steps_total) return;
        reporter_.warning(
            "warmup_unfinished",
            fmt::format("train.schedule.warmup_steps is {}, and the schedule has {}; "
                        "the learning rate does not reach train.optimizer.lr",
                        schedule.warmup_steps, counted(schedule.steps_total, "step")));
    }

    void require_validation() const {
        if (!settings_.early_stopping || !data_.split.val.empty()) return;
        throw TrainError("spec_error",
                         "train.early_stopping needs validation samples, and data.split leaves "
                         "none; set data.split.val_fraction higher");
    }

    void restore() {
        std::optional<StepBindings> before;
        if (programs_.accumulation) before = programs_.accumulation->bindings;
        step_ = StepInProgress(model_, update_, programs_.train.bindings, std::move(before),
                               {.rate = model_.dropout,
                                .seed = std::uint64_t(plan_.spec.train.seed),
                                .batches_per_step = sampler_.options().batches_per_step});
        for (const std::string& damage : plan_.passed_over) {
            reporter_.warning("checkpoint_corrupt",
                              fmt::format("{}; continuing from {} instead", damage,
                                          plan_.resume_from ? plan_.resume_from->filename().string()
                                                            : "the first step"));
        }
        if (!plan_.resume_from) {
            load_weights();
            state_ = initial_state(model_, update_);
            model_.parameters.forget_values();
            reporter_.log("info", fmt::format("{}, {} training and {} validation samples, "
                                              "{} per epoch, {}",
                                              describe_count(model_.parameters),
                                              data_.split.train.size(), data_.split.val.size(),
                                              counted(settings_.steps_per_epoch, "step"),
                                              counted(engine_.workers(), "worker thread")));
            return;
        }
        model_.parameters.forget_values();
        state_ = from_checkpoint(*plan_.resume_from, plan_.spec, model_, update_);
        // What another job keeps is its own.
        if (continues_another_job()) state_.kept = {};
        for (const std::string& change : state_.spec_changes) {
            reporter_.warning("spec_changed",
                              fmt::format("since {} was saved the spec has changed: {}",
                                          plan_.resume_from->filename().string(), change));
        }
        const std::string other_set = other_instruction_set(
            state_.writer, plan_.resume_from->filename().string(), to_string(instruction_set()));
        if (!other_set.empty()) reporter_.warning("instruction_set_changed", other_set);
        sampler_.seek(state_.position);
        explainer_.begin_at(state_.step);
        saved_step_ = state_.step;
        reporter_.log("info", fmt::format("resumed at step {} from {}", state_.step,
                                          plan_.resume_from->filename().string()));
    }

    /// What the plan of the programs leaves of the job's memory; negative: there is no limit.
    std::int64_t bytes_beside_programs() const {
        if (plan_.memory_bytes_max == 0) return -1;
        std::int64_t peak = 0;
        for (const StepProgram* program : programs_.all())
            peak = std::max(peak, engine_.memory(*program->executable).peak_bytes);
        return std::max<std::int64_t>(0, plan_.memory_bytes_max - peak);
    }

    bool continues_another_job() const {
        return plan_.resume_from->parent_path() != plan_.checkpoint_folder;
    }

    void load_weights() {
        const auto& init = plan_.spec.model.init;
        if (!plan_.init_from || !init) return;
        const auto trained = find_trained_samples(*plan_.init_from);
        const auto labels = std::int64_t(data_.label_names.size());
        const LoadedWeights loaded = load_initial_weights(
            model_, *plan_.init_from,
            {.strict = init->strict,
             .replace_head = plan_.spec.model.head.replace,
             .names = {.in_file = trained ? trained->names : std::vector<std::string>(),
                       .here = data_.label_names,
                       .outputs = plan_.spec.model.num_classes.value_or(labels)}});
        reporter_.log("info", describe(loaded, *plan_.init_from));
        report_.started_from(loaded.unknown,
                             trained ? trained->columns : std::vector<std::string>(), data_);
    }

    /// The only loop: a batch, and after the last one of a step what is due then. A stop amid a
    /// step drops what it has added up: the weights are still those of the step before.
    StopReason train() {
        epoch_ = EpochMeter(system_clock());
        LoaderOptions options = own_samples();
        options.mixing = data_.mixing;
        Loader loader(*data_.training, sampler_, options);
        requests_.stop = members_.agreed({.stop = reporter_.stop_requested()}).stop;
        while (steps_left()) {
            if (const StopReason reason = stop_requested(); reason != StopReason::none) {
                // Who wants nothing saved kills the job: that is not heard here.
                if (state_.step > saved_step_ && saves_at(reason)) save({});
                return reason;
            }
            auto batch = next_batch(loader);
            check(batch.has_value(), "the sampler has as many batches as the settings say");
            at_hand_.begin_batch(batch->position, state_.step);
            compute(*batch);
            batch->cores.clear();    // an evaluation takes the same memory for its batches
            if (!batch->ends_step) continue;
            end_step(*batch);
            after_step(*batch);
        }
        return StopReason::none;
    }

    LoaderOptions own_samples() const {
        LoaderOptions options = loader_options(plan_, data_);
        options.own = members_.own(sampler_.options().cores);
        return options;
    }

    /// What is wanted of the run, by whoever is asked for all members.
    void ask() {
        requests_ = members_.agreed(
            {.stop = reporter_.stop_requested(), .save = reporter_.save_requested()});
    }

    /// Alone a run stops amid a step, too.
    StopReason stop_requested() {
        return members_.collectives() != nullptr ? requests_.stop : reporter_.stop_requested();
    }

    /// Who goes on later needs what was trained, whatever is asked of the end.
    bool saves_at(StopReason reason) const {
        const bool goes_on = reason == StopReason::drain || reason == StopReason::orphaned;
        return goes_on || settings_.save_final;
    }

    std::optional<LoadedBatch> next_batch(Loader& loader) {
        const auto timed = explainer_.time(Phase::input_wait);
        return loader.next();
    }

    /// Runs a batch: the last of its step changes the weights, the others add their gradients up.
    void compute(const LoadedBatch& batch) {
        const Executable& program =
            *(batch.ends_step ? programs_.train : *programs_.accumulation).executable;
        const Hyper hyper = hyper_at(settings_, state_.step, batch.step_labels);
        const std::vector<Value> inputs = inputs_of(hyper, batch);
        const std::vector<Value> outputs = execute(program, inputs);
        take(outputs, batch);
        lr_ = hyper.lr;
        explainer_.ran(program, {.begin = batch.read_begin,
                                 .end = batch.read_end,
                                 .thread = batch.thread,
                                 .number = state_.step + 1,
                                 .samples = batch.sample_count});
    }

    void end_step(const LoadedBatch& batch) {
        means_ = task_.values(step_.finish());
        ++state_.step;
        at_hand_.end_step();
        state_.samples += batch.step_samples;
        for (std::int64_t& count : state_.batch_counts)
            count += sampler_.options().batches_per_step;
        state_.position = batch.next;
        pace_.step(batch.step_samples);
        epoch_.step(value_of(means_, "loss"), batch.step_samples);
        explainer_.stepped(state_.step);
        report_.chosen(engine_.worker_choice());
        report_.write_when_due(state_.step);
    }

    std::vector<Value> inputs_of(const Hyper& hyper, const LoadedBatch& batch) {
        const auto timed = explainer_.time(Phase::transfer_to_device);
        return step_.inputs(state_, hyper, batch);
    }

    std::vector<Value> execute(const Executable& program, const std::vector<Value>& inputs) {
        const bool ends_step = &program == programs_.train.executable.get();
        at_hand_.begin_program(ends_step ? "train_step" : "accumulation_step");
        const auto timed = explainer_.time(Phase::execute);
        return engine_.run(program, inputs, explainer_.wants_timeline());
    }

    void take(const std::vector<Value>& outputs, const LoadedBatch& batch) {
        const auto timed = explainer_.time(Phase::transfer_from_device);
        step_.take(outputs, batch, state_);
    }

    void after_step(const LoadedBatch& batch) {
        saver_->report_written();
        const bool ended = state_.step == settings_.steps_total;
        const bool epoch_ended = batch.next.epoch != batch.position.epoch;
        report_.accepted(data_);
        const double loss = value_of(means_, "loss");
        if (!std::isfinite(loss)) {
            throw TrainError("nan_loss",
                             fmt::format("the loss became {} at step {}; a smaller "
                                         "train.optimizer.lr (now {:.6g}) usually helps",
                                         loss, state_.step, lr_));
        }
        explainer_.loss(loss);
        const auto norm = step_.gradient_norm();
        if (norm) report_.gradient_norm(*norm, state_.step);
        if (state_.step % settings_.log_every_steps == 0 || ended) {
            MetricValues values = with_prefix("train_", means_);
            values.emplace_back("lr", lr_);
            if (norm) values.emplace_back("gradient_norm", *norm);
            reporter_.metric({.step = state_.step,
                              .epoch = batch.position.epoch + 1,
                              .values = std::move(values)});
        }
        const bool evaluates = (epoch_ended || ended) && programs_.evaluation;
        if (!evaluates && pace_.due()) report_progress("train");

        MetricValues evaluated;
        if (evaluates) judge(evaluated = evaluate_now(batch));
        if (epoch_ended || ended) summarize(batch, evaluated);
        ask();
        const bool save_now =
            ((ended || stopped_early()) && settings_.save_final) || requests_.save ||
            (settings_.save_every_steps > 0 && state_.step % settings_.save_every_steps == 0) ||
            (epoch_ended && settings_.save_every_epochs > 0 &&
             (batch.position.epoch + 1) % settings_.save_every_epochs == 0);
        if (save_now) save(evaluated);
    }

    void summarize(const LoadedBatch& batch, const MetricValues& evaluated) {
        EpochSummary summary = epoch_.finish();
        summary.epoch = batch.position.epoch + 1;
        summary.epochs = settings_.epochs;
        summary.step = state_.step;
        summary.values.insert(summary.values.end(), evaluated.begin(), evaluated.end());
        report_.epoch(summary);
    }

    MetricValues evaluate_now(const LoadedBatch& batch) {
        const auto timed = explainer_.time(Phase::evaluate);
        const std::int64_t epoch = batch.position.epoch + 1;
        const MetricSums sums = evaluation_sums();
        reporter_.metric({.step = state_.step, .epoch = epoch, .values = final_values_});
        report_evaluation(epoch, sums);
        return final_values_;
    }

    /// Resumed with no step left: the attempt that saved the checkpoint was lost before it said how
    /// it ended. Its curves have these values; the result, the evaluation and the judgement of the
    /// validation loss are still to be made.
    void evaluate_finished() {
        if (!programs_.evaluation) return;
        const auto timed = explainer_.time(Phase::evaluate);
        lr_ = hyper_at(settings_, state_.step - 1, 1).lr;
        const std::int64_t steps = settings_.steps_per_epoch;
        report_evaluation((state_.step + steps - 1) / steps, evaluation_sums());
    }

    /// Measures the validation part; `final_values_` are what came of it.
    MetricSums evaluation_sums() {
        if (pace_.due() || !steps_left() || !evaluates_fast_) report_progress("evaluate");
        if (update_.averages) gather_state();
        at_hand_.begin_program("evaluation_step");
        const Tick begin = system_clock().tick();
        MetricSums sums =
            evaluate(engine_, *programs_.evaluation, network_values(state_, model_, update_),
                     {.samples = data_.evaluated(),
                      .chosen = data_.split.val,
                      .batch_size_per_core = sampler_.options().batch_size_per_core,
                      .cores = sampler_.options().cores,
                      .loader = own_samples(),
                      .members = &members_});
        report_.accepted(data_);
        epoch_.evaluated_since(begin);
        evaluates_fast_ = system_clock().tick() - begin < Pace::pause;
        final_values_ = with_prefix("val_", task_.values(sums));
        warn_of_nonfinite(final_values_);
        return sums;
    }

    void report_evaluation(std::int64_t epoch, const MetricSums& sums) {
        report_.evaluated({.step = state_.step,
                           .epoch = epoch,
                           .samples = std::int64_t(data_.split.val.size()),
                           .values = final_values_,
                           .details = task_.details ? task_.details(sums) : Json()});
    }

    /// Once for each metric: a run may go on for long with one that is not defined.
    void warn_of_nonfinite(const MetricValues& evaluated) {
        for (const auto& [name, value] : evaluated) {
            if (std::isfinite(value) || !nonfinite_.insert(name).second) continue;
            reporter_.warning("nonfinite_metric",
                              fmt::format("{} is {} at step {}: a checkpoint of such a value is "
                                          "never the best; the curve shows each",
                                          name, value, state_.step));
        }
    }

    bool steps_left() const { return state_.step < settings_.steps_total && !stopped_early(); }

    bool stopped_early() const {
        const auto& rule = settings_.early_stopping;
        return rule && ends_training(*rule, state_.early_stopping);
    }

    /// Once, on the metric reduced over all cores: what is decided is part of the checkpoint.
    void judge(const MetricValues& evaluated) {
        const auto& rule = settings_.early_stopping;
        if (!rule) return;
        if (const auto value = value_in(evaluated, rule->metric))
            state_.early_stopping = judged(*rule, state_.early_stopping, *value, state_.step);
        if (stopped_early()) reporter_.log("info", reason_of(*rule, state_.early_stopping));
    }

    void save(const MetricValues& evaluated) {
        const Tick begin = system_clock().tick();
        const auto timed = explainer_.time(Phase::checkpoint);
        SavedCheckpoint saved =
            next_checkpoint(state_, settings_, evaluated, {plan_.attempt, plan_.writer});
        const std::string phase = fmt::format("the checkpoint of step {}", state_.step);
        gather_state();
        if (members_.collectives() != nullptr) members_.require_same({{weights()}}, phase);
        members_.begin_saving();
        if (members_.leads()) write(std::move(saved));
        members_.barrier(phase);
        saved_step_ = state_.step;
        epoch_.saved_since(begin);
    }

    /// Before anybody reads the optimizer's state: each member may have updated a shard of it.
    void gather_state() {
        if (whole_step_ == state_.step) return;
        engine_.gather(*programs_.train.executable, state_.values);
        whole_step_ = state_.step;
    }

    void write(SavedCheckpoint saved) {
        Checkpoint checkpoint = to_checkpoint(state_, model_, update_, settings_, plan_.spec);
        checkpoint.files = data_.files;
        std::ranges::copy(model_.files, std::back_inserter(checkpoint.files));
        checkpoint.writer = plan_.writer;
        saver_->save(std::move(saved), std::move(checkpoint));
    }

    /// What was saved before the failure can be gone on from. That it could not be written either
    /// is not why the run failed.
    void finish_saving_of_failed() {
        try {
            if (saver_) saver_->finish();
        } catch (const Error& error) {
            reporter_.warning("checkpoint_lost", error.what());
        }
    }

    /// Before the run says how it ended: what it saved is on the disk then.
    void finish_saving() {
        const Tick begin = system_clock().tick();
        const auto timed = explainer_.time(Phase::checkpoint);
        members_.begin_saving();
        saver_->finish();
        members_.barrier("the end");
        epoch_.saved_since(begin);
    }

    void report_progress(const std::string& phase) {
        said_step_ = state_.step;
        Progress progress{.epoch = std::min(settings_.epochs, state_.position.epoch + 1),
                          .epochs = settings_.epochs,
                          .step = state_.step,
                          .steps_total = settings_.steps_total,
                          .samples = state_.samples,
                          .samples_per_s = 0,
                          .phase = phase};
        pace_.describe(progress);
        reporter_.progress(progress);
    }

    TrainOutcome outcome(StopReason stopped) const {
        TrainOutcome result{.stopped = stopped,
                            .step = state_.step,
                            .epoch = state_.step / settings_.steps_per_epoch,
                            .stopped_early = {},
                            .best = {},
                            .final_values = final_values_};
        if (!state_.kept.best.empty())
            result.best = {{settings_.keep.metric, *state_.kept.best[0].metric}};
        if (stopped == StopReason::none && stopped_early())
            result.stopped_early = reason_of(*settings_.early_stopping, state_.early_stopping);
        return result;
    }

    const AttemptPlan& plan_;
    Reporter& reporter_;
    const Tick started_;
    AttemptMembers members_;
    const std::unique_ptr<ObjectCache> cache_;
    TrainData data_;
    Sampler sampler_;
    TrainSettings settings_;
    Model model_;
    const Task task_;
    const UpdatePlan update_;
    Engine engine_;
    Explainer explainer_;
    RunReport report_;
    Pace pace_;
    EpochMeter epoch_;
    TrainPrograms programs_;
    TrainState state_;
    StepInProgress step_;
    std::optional<CheckpointSaver> saver_;    // once the programs' memory is known
    std::int64_t whole_step_ = -1;            // whose optimizer state is whole in this member
    std::int64_t saved_step_ = -1;            // of the last one, which may still be written
    WorkAtHand at_hand_;
    RunRequests requests_;    // since the last step
    MetricValues means_;      ///< of the last step
    double lr_ = 0;           ///< likewise
    MetricValues final_values_;
    std::int64_t said_step_ = -1;    // of the last progress
    bool evaluates_fast_ = false;    // as the last evaluation showed: not worth words of its own
    std::set<std::string> nonfinite_;    // metrics that a warning has named
};

}    // namespace

TrainOutcome run_training(const AttemptPlan& plan, Reporter& reporter) {
    return with_failure_reasons([&] {
        if (!plan.member || plan.member->rank == 0) return TrainingRun(plan, reporter).run();
        AttemptPlan quiet_plan = plan;
        quiet_plan.report_folder.clear();
        QuietReporter quiet(reporter, fmt::format("rank {}", plan.member->rank));
        return TrainingRun(quiet_plan, quiet).run();
    });
}

}    // namespace slipway

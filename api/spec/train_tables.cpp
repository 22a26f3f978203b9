#include "api/spec/table/collections.h"
#include "api/spec/tables.h"

namespace slipway {

const Object<ParameterGroupSpec>& parameter_group_table() {
    static const auto table =
        Object<ParameterGroupSpec>("ParameterGroupSpec", "Parameters with their own learning rate.")
            .field("match", &ParameterGroupSpec::match,
                   "Pattern of parameter names, such as fc.*; * matches any text.", Text{},
                   {.required = true})
            .field("lr_scale", &ParameterGroupSpec::lr_scale, "Factor on the learning rate.",
                   Number{.above = 0}, {.required = true});
    return table;
}

const Object<OptimizerSpec>& optimizer_table() {
    static const auto table =
        Object<OptimizerSpec>("OptimizerSpec", "Optimizer and its hyperparameters.")
            .variants("name", {"sgd", "adam", "adamw", "lamb"}, "",
                      [](const OptimizerSpec& spec) { return to_string(spec.name); })
            .field("name", &OptimizerSpec::name, "Optimizer.", Choice<OptimizerName>{},
                   {.required = true})
            .field("lr", &OptimizerSpec::lr, "Learning rate.", Number{.above = 0},
                   {.required = true})
            .field("lr_scaling", &OptimizerSpec::lr_scaling,
                   "Scaling of the learning rate: none, by the number of cores (linear), or by its "
                   "square root (sqrt).",
                   Choice<LrScaling>{})
            .field("weight_decay", &OptimizerSpec::weight_decay,
                   "Weight decay. sgd, adam: this fraction of the weights is added to the "
                   "gradient; lamb: to the update; adamw: the weights shrink by lr times this "
                   "fraction (decoupled).",
                   Number{.min = 0})
            .field(
                "decay_exempt", &OptimizerSpec::decay_exempt,
                "Parameters without weight decay: name patterns such as *.bias, or one_dimensional "
                "for biases and norm scales. lamb applies no trust ratio to them either.",
                List<Text>{.item = {}, .max = 1000, .unique = true}, {.absent_when_empty = true})
            .field("clip_norm", &OptimizerSpec::clip_norm,
                   "Maximum norm of all gradients together; larger gradients are scaled down. The "
                   "norm before clipping is reported as gradient_norm.",
                   Number{.above = 0})
            .field("groups", &OptimizerSpec::groups,
                   "Parameters with their own learning rate, each {match, lr_scale}: a name "
                   "pattern and a factor. The first group that matches a parameter applies to it.",
                   List<Nested<ParameterGroupSpec>>{.item = {&parameter_group_table()}, .max = 16},
                   {.absent_when_empty = true})
            .field("momentum", &OptimizerSpec::momentum, "Momentum.", Number{.min = 0, .below = 1},
                   {.only = {"sgd"}})
            .field("nesterov", &OptimizerSpec::nesterov, "Nesterov momentum.", Flag{},
                   {.only = {"sgd"}})
            .field("betas", &OptimizerSpec::betas,
                   "Decay rates of the moving averages of the gradient and of its square.",
                   NumberPair{{.min = 0, .below = 1}}, {.only = {"adam", "adamw", "lamb"}})
            .field("eps", &OptimizerSpec::eps,
                   "Term added to the denominator for numerical stability.", Number{.above = 0},
                   {.only = {"adam", "adamw", "lamb"}})
            .rule([](const Json&, OptimizerSpec& spec, const Reader& at) {
                if (!spec.nesterov || spec.momentum > 0) return;
                const Reader here = at.at("nesterov");
                here.report("inconsistent", fmt::format("{} requires a momentum above 0, got {}; "
                                                        "set momentum or leave nesterov out",
                                                        here.path(), spec.momentum));
            });
    return table;
}

const Object<ScheduleSpec>& schedule_table() {
    static const auto table =
        Object<ScheduleSpec>("ScheduleSpec", "Learning-rate schedule.")
            .variants("name", {"constant", "step", "cosine", "linear", "one_cycle"}, "constant",
                      [](const ScheduleSpec& spec) { return to_string(spec.name); })
            .field("name", &ScheduleSpec::name,
                   "constant; step: multiplied by gamma every step_epochs; cosine: half-cosine "
                   "decay to min_lr; linear: linear decay to 0; one_cycle: half-cosine rise and "
                   "decay, of the learning rate only.",
                   Choice<ScheduleName>{})
            .field("step_epochs", &ScheduleSpec::step_epochs,
                   "Number of epochs between two reductions.", Integer{.min = 1, .max = 1000000},
                   {.required = true, .only = {"step"}})
            .field("gamma", &ScheduleSpec::gamma, "Factor of each reduction.",
                   Number{.max = 1, .above = 0}, {.only = {"step"}})
            .field("warmup_steps", &ScheduleSpec::warmup_steps, "Steps of linear warmup.",
                   Integer{.min = 0, .max = 1000000000}, {.only = {"cosine", "linear"}})
            .field("min_lr", &ScheduleSpec::min_lr, "Final learning rate.", Number{.min = 0},
                   {.only = {"cosine"}})
            .field("warmup_fraction", &ScheduleSpec::warmup_fraction,
                   "Fraction of all steps in which the learning rate rises.",
                   Number{.above = 0, .below = 1}, {.only = {"one_cycle"}})
            .field("div_factor", &ScheduleSpec::div_factor,
                   "The initial learning rate is optimizer.lr divided by this.", Number{.min = 1},
                   {.only = {"one_cycle"}})
            .field("final_div_factor", &ScheduleSpec::final_div_factor,
                   "The final learning rate is the initial one divided by this.", Number{.min = 1},
                   {.only = {"one_cycle"}})
            .field(
                "length", &ScheduleSpec::length,
                "Length of the schedule in epochs, or in steps if the job has train.steps; for a "
                "job that is the first part of a longer training. Default: the length of the job.",
                Integer{.min = 1, .max = 1000000000}, {.only = {"cosine", "linear", "one_cycle"}});
    return table;
}

const Object<EmaSpec>& ema_table() {
    static const auto table =
        Object<EmaSpec>("EmaSpec",
                        "Exponential moving average of the weights; evaluations and checkpoints "
                        "use it instead of the weights.")
            .field("decay", &EmaSpec::decay, "Decay of the moving average.",
                   Number{.above = 0, .below = 1}, {.required = true});
    return table;
}

const Object<EarlyStoppingSpec>& early_stopping_table() {
    static const auto table =
        Object<EarlyStoppingSpec>("EarlyStoppingSpec",
                                  "Stop the training when evaluations no longer improve.")
            .field("metric", &EarlyStoppingSpec::metric, "Metric to compare evaluations by.",
                   Word{.allowed = best_metrics})
            .field("mode", &EarlyStoppingSpec::mode,
                   "Whether a smaller or a larger value is better. Default: as suits the metric.",
                   Choice<MetricMode>{})
            .field("patience", &EarlyStoppingSpec::patience,
                   "Stop after this many evaluations without improvement.",
                   Integer{.min = 1, .max = 1000000}, {.required = true})
            .field("min_delta", &EarlyStoppingSpec::min_delta,
                   "Minimum change that counts as an improvement.", Number{.min = 0})
            .rule([](const Json& given, EarlyStoppingSpec& spec, const Reader&) {
                if (given.contains("mode")) return;
                const auto metric = validation_metric(spec.metric);
                if (metric) spec.mode = better(*metric).value_or(MetricMode::min);
            });
    return table;
}

namespace {

void judge_train(const Json&, TrainSpec& spec, const Reader& at) {
    const Reader schedule = at.at("schedule");
    if (spec.schedule.min_lr > spec.optimizer.lr) {
        const Reader here = schedule.at("min_lr");
        here.report("inconsistent",
                    fmt::format("{} must be at most optimizer.lr ({}), got {}", here.path(),
                                spec.optimizer.lr, spec.schedule.min_lr));
    }
    const std::int64_t steps = spec.steps ? spec.schedule.length.value_or(*spec.steps) : 0;
    if (spec.steps && spec.schedule.warmup_steps >= steps) {
        const Reader here = schedule.at("warmup_steps");
        here.report("inconsistent",
                    fmt::format("{} must be below {} ({}), got {}", here.path(),
                                spec.schedule.length ? "schedule.length" : "train.steps", steps,
                                spec.schedule.warmup_steps));
    }
    const std::int64_t whole = spec.steps.value_or(spec.epochs.value_or(0));
    if (spec.schedule.length && *spec.schedule.length < whole) {
        const Reader here = schedule.at("length");
        here.report("inconsistent",
                    fmt::format("{} must be at least {} ({}), got {}: after its end the learning "
                                "rate stays where it is; leave it out, or train for less",
                                here.path(), spec.steps ? "train.steps" : "train.epochs", whole,
                                *spec.schedule.length));
    }
    if (spec.ema && spec.precision == Precision::bf16_true) {
        const Reader here = at.at("ema");
        here.report("inconsistent", fmt::format("{} requires precision f32 or bf16, got bf16_true: "
                                                "in bf16 the average would not change",
                                                here.path()));
    }
}

}    // namespace

const Object<TrainSpec>& train_table() {
    static const auto table =
        Object<TrainSpec>("TrainSpec", "Training. Exactly one of epochs and steps is required.")
            .variants("", {"epochs", "steps"}, "",
                      [](const TrainSpec& spec) { return spec.steps ? "steps" : "epochs"; })
            .field("epochs", &TrainSpec::epochs, "Number of epochs: passes over the training data.",
                   Integer{.min = 1, .max = 1000000}, {.required = true, .only = {"epochs"}})
            .field("steps", &TrainSpec::steps, "Number of steps: updates of the weights.",
                   Integer{.min = 1, .max = 1000000000}, {.required = true, .only = {"steps"}})
            .field("batch_size_per_core", &TrainSpec::batch_size_per_core, "Batch size per core.",
                   Integer{.min = 1, .max = 65536})
            .field("grad_accumulation", &TrainSpec::grad_accumulation,
                   "Batches per core and step; their gradients are accumulated before the weights "
                   "are updated.",
                   Integer{.min = 1, .max = 65536})
            .field("batches_per_epoch", &TrainSpec::batches_per_epoch,
                   "Maximum number of steps per epoch. Default: an epoch uses all samples.",
                   Integer{.min = 1, .max = 1000000000})
            .field("drop_last", &TrainSpec::drop_last,
                   "Skip the last batch of an epoch if it is incomplete.", Flag{})
            .field("shuffle", &TrainSpec::shuffle, "Shuffle the samples in each epoch.", Flag{})
            .field("seed", &TrainSpec::seed,
                   "Random seed of the run: weight initialisation, sample order, dropout and "
                   "augmentation.",
                   Integer{})
            .field("deterministic", &TrainSpec::deterministic,
                   "The same spec and data give bit-identical results.", Flag{})
            .field("precision", &TrainSpec::precision,
                   "f32; bf16: matmuls and convolutions on bf16 values, everything else in f32; "
                   "bf16_true: everything in bf16, including weight updates. Metrics and "
                   "checkpoints are always f32.",
                   Choice<Precision>{})
            .field("optimizer", &TrainSpec::optimizer, "Optimizer and its hyperparameters.",
                   Nested<OptimizerSpec>{&optimizer_table()}, {.required = true})
            .field("schedule", &TrainSpec::schedule, "Learning-rate schedule.",
                   Nested<ScheduleSpec>{&schedule_table()})
            .field("ema", &TrainSpec::ema, "Exponential moving average of the weights.",
                   Nested<EmaSpec>{&ema_table()})
            .field("early_stopping", &TrainSpec::early_stopping,
                   "Stop the training when evaluations no longer improve.",
                   Nested<EarlyStoppingSpec>{&early_stopping_table()})
            .rule(judge_train);
    return table;
}

}    // namespace slipway

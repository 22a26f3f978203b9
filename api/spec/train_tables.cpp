#include "api/spec/table/collections.h"
#include "api/spec/tables.h"

namespace slipway {

const Object<ParameterGroupSpec>& parameter_group_table() {
    static const auto table =
        Object<ParameterGroupSpec>("ParameterGroupSpec", "Parameters that learn at another rate.")
            .field("match", &ParameterGroupSpec::match,
                   "A pattern of their names, such as fc.*; * stands for any text.", Text{},
                   {.required = true})
            .field("lr_scale", &ParameterGroupSpec::lr_scale,
                   "What the learning rate is multiplied by for them.", Number{.above = 0},
                   {.required = true});
    return table;
}

const Object<OptimizerSpec>& optimizer_table() {
    static const auto table =
        Object<OptimizerSpec>("OptimizerSpec", "The rule that changes the weights.")
            .variants("name", {"sgd", "adam", "adamw", "lamb"}, "",
                      [](const OptimizerSpec& spec) { return to_string(spec.name); })
            .field("name", &OptimizerSpec::name, "Which rule.", Choice<OptimizerName>{},
                   {.required = true})
            .field("lr", &OptimizerSpec::lr, "The learning rate.", Number{.above = 0},
                   {.required = true})
            .field("lr_scaling", &OptimizerSpec::lr_scaling,
                   "What the learning rate is multiplied by: nothing, the number of cores, or its "
                   "square root.",
                   Choice<LrScaling>{})
            .field(
                "weight_decay", &OptimizerSpec::weight_decay,
                "This share of the weights is added to their gradients; with lamb to their step; "
                "with adamw the weights shrink by lr times this share.",
                Number{.min = 0})
            .field(
                "decay_exempt", &OptimizerSpec::decay_exempt,
                "Parameters without weight decay: patterns of names, such as *.bias, or "
                "one_dimensional: biases and scales of norms. With lamb they have no trust ratio "
                "either.",
                List<Text>{.item = {}, .max = 1000, .unique = true}, {.absent_when_empty = true})
            .field("clip_norm", &OptimizerSpec::clip_norm,
                   "Gradients are scaled down until the norm of all of them together is no larger; "
                   "the norm before is reported as gradient_norm.",
                   Number{.above = 0})
            .field("groups", &OptimizerSpec::groups,
                   "Parameters that learn at another rate, each {match, lr_scale}: a pattern of "
                   "their names, and a factor. A parameter belongs to the first group that matches "
                   "its name.",
                   List<Nested<ParameterGroupSpec>>{.item = {&parameter_group_table()}, .max = 16},
                   {.absent_when_empty = true})
            .field("momentum", &OptimizerSpec::momentum, "Share of the last update that is kept.",
                   Number{.min = 0, .below = 1}, {.only = {"sgd"}})
            .field("nesterov", &OptimizerSpec::nesterov, "Look ahead along the momentum.", Flag{},
                   {.only = {"sgd"}})
            .field("betas", &OptimizerSpec::betas,
                   "Decay of the running means of the gradient and of its square.",
                   NumberPair{{.min = 0, .below = 1}}, {.only = {"adam", "adamw", "lamb"}})
            .field("eps", &OptimizerSpec::eps, "Added to the denominator.", Number{.above = 0},
                   {.only = {"adam", "adamw", "lamb"}})
            .rule([](const Json&, OptimizerSpec& spec, const Reader& at) {
                if (!spec.nesterov || spec.momentum > 0) return;
                const Reader here = at.at("nesterov");
                here.report("inconsistent",
                            fmt::format("{} needs a momentum above 0, got {}; set momentum or "
                                        "leave nesterov out",
                                        here.path(), spec.momentum));
            });
    return table;
}

const Object<ScheduleSpec>& schedule_table() {
    static const auto table =
        Object<ScheduleSpec>("ScheduleSpec", "How the learning rate moves.")
            .variants("name", {"constant", "step", "cosine", "linear", "one_cycle"}, "constant",
                      [](const ScheduleSpec& spec) { return to_string(spec.name); })
            .field(
                "name", &ScheduleSpec::name,
                "constant; step: times gamma every step_epochs; cosine: down to min_lr along a "
                "half wave; linear: down to 0; one_cycle: up and down again along half waves, the "
                "learning rate only.",
                Choice<ScheduleName>{})
            .field("step_epochs", &ScheduleSpec::step_epochs,
                   "Epochs until it is multiplied again.", Integer{.min = 1, .max = 1000000},
                   {.required = true, .only = {"step"}})
            .field("gamma", &ScheduleSpec::gamma, "What it is multiplied by.",
                   Number{.max = 1, .above = 0}, {.only = {"step"}})
            .field("warmup_steps", &ScheduleSpec::warmup_steps,
                   "Steps in which it first rises to its full height.",
                   Integer{.min = 0, .max = 1000000000}, {.only = {"cosine", "linear"}})
            .field("min_lr", &ScheduleSpec::min_lr, "Where it ends.", Number{.min = 0},
                   {.only = {"cosine"}})
            .field("warmup_fraction", &ScheduleSpec::warmup_fraction,
                   "Share of all steps in which it rises.", Number{.above = 0, .below = 1},
                   {.only = {"one_cycle"}})
            .field("div_factor", &ScheduleSpec::div_factor,
                   "It begins at optimizer.lr divided by this.", Number{.min = 1},
                   {.only = {"one_cycle"}})
            .field("final_div_factor", &ScheduleSpec::final_div_factor,
                   "It ends at its beginning divided by this.", Number{.min = 1},
                   {.only = {"one_cycle"}});
    return table;
}

const Object<EmaSpec>& ema_table() {
    static const auto table =
        Object<EmaSpec>("EmaSpec",
                        "A moving average of the weights, which is evaluated and saved "
                        "in their place.")
            .field("decay", &EmaSpec::decay, "What it keeps of itself in each step.",
                   Number{.above = 0, .below = 1}, {.required = true});
    return table;
}

const Object<EarlyStoppingSpec>& early_stopping_table() {
    static const auto table =
        Object<EarlyStoppingSpec>("EarlyStoppingSpec",
                                  "Ends the training when evaluations get no better.")
            .field("metric", &EarlyStoppingSpec::metric, "What they are compared by.",
                   Word{.allowed = best_metrics})
            .field("mode", &EarlyStoppingSpec::mode,
                   "Whether smaller or greater is better; without it what suits the metric.",
                   Choice<MetricMode>{})
            .field("patience", &EarlyStoppingSpec::patience,
                   "So many evaluations in a row may be no better; the last of them ends it.",
                   Integer{.min = 1, .max = 1000000}, {.required = true})
            .field("min_delta", &EarlyStoppingSpec::min_delta,
                   "Better by no more than this is no better.", Number{.min = 0})
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
    if (spec.steps && spec.schedule.warmup_steps >= *spec.steps) {
        const Reader here = schedule.at("warmup_steps");
        here.report("inconsistent",
                    fmt::format("{} must be below train.steps ({}), got {}", here.path(),
                                *spec.steps, spec.schedule.warmup_steps));
    }
    if (spec.ema && spec.precision == Precision::bf16_true) {
        const Reader here = at.at("ema");
        here.report("inconsistent",
                    fmt::format("{} needs precision f32 or bf16, got bf16_true: an average in bf16 "
                                "does not move",
                                here.path()));
    }
}

}    // namespace

const Object<TrainSpec>& train_table() {
    static const auto table =
        Object<TrainSpec>("TrainSpec", "How it is trained. Give exactly one of epochs and steps.")
            .variants("", {"epochs", "steps"}, "",
                      [](const TrainSpec& spec) { return spec.steps ? "steps" : "epochs"; })
            .field("epochs", &TrainSpec::epochs, "How often it sees the whole training part.",
                   Integer{.min = 1, .max = 1000000}, {.required = true, .only = {"epochs"}})
            .field("steps", &TrainSpec::steps, "How often the weights are changed.",
                   Integer{.min = 1, .max = 1000000000}, {.required = true, .only = {"steps"}})
            .field("batch_size_per_core", &TrainSpec::batch_size_per_core,
                   "Samples that each core computes at once.", Integer{.min = 1, .max = 65536})
            .field("grad_accumulation", &TrainSpec::grad_accumulation,
                   "Batches of each core in each step: their gradients are added up before the "
                   "weights change.",
                   Integer{.min = 1, .max = 65536})
            .field("batches_per_epoch", &TrainSpec::batches_per_epoch,
                   "Ends each epoch after so many steps; without it all samples are seen.",
                   Integer{.min = 1, .max = 1000000000})
            .field("drop_last", &TrainSpec::drop_last,
                   "Leave out the last batch of an epoch when it is not full.", Flag{})
            .field("shuffle", &TrainSpec::shuffle, "See the samples in a new order each epoch.",
                   Flag{})
            .field("seed", &TrainSpec::seed, "Of the first weights and of the order of samples.",
                   Integer{})
            .field("deterministic", &TrainSpec::deterministic,
                   "The same spec and data give the same bits.", Flag{})
            .field("precision", &TrainSpec::precision,
                   "f32; bf16: products of bf16 values, all else in f32; bf16_true: everything in "
                   "bf16, the update of the weights too. Metrics and checkpoints are always f32.",
                   Choice<Precision>{})
            .field("optimizer", &TrainSpec::optimizer, "The rule that changes the weights.",
                   Nested<OptimizerSpec>{&optimizer_table()}, {.required = true})
            .field("schedule", &TrainSpec::schedule, "How the learning rate moves.",
                   Nested<ScheduleSpec>{&schedule_table()})
            .field("ema", &TrainSpec::ema, "A moving average of the weights.",
                   Nested<EmaSpec>{&ema_table()})
            .field("early_stopping", &TrainSpec::early_stopping,
                   "Ends the training when evaluations get no better.",
                   Nested<EarlyStoppingSpec>{&early_stopping_table()})
            .rule(judge_train);
    return table;
}

}    // namespace slipway

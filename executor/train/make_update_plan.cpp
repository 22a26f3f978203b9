#include "executor/train/make_update_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "executor/train/name_pattern.h"
#include "executor/train/train_error.h"

namespace slipway {

namespace {

const Optimizer& optimizer_row(const OptimizerSpec& spec) {
    if (spec.name != OptimizerName::sgd) return find_optimizer(to_string(spec.name));
    if (spec.nesterov) return find_optimizer("sgd_nesterov");
    return find_optimizer(spec.momentum != 0 ? "sgd_momentum" : "sgd");
}

/// A pattern and the field it stands in.
struct FieldPattern {
    std::string field;
    const std::string& pattern;
};

[[noreturn]] void refuse_pattern(const FieldPattern& one, const ParameterList& parameters) {
    throw TrainError("spec_error",
                     fmt::format("{} is {}, and no parameter of the network has such a name; * "
                                 "matches any text, and the names range from {} to {}",
                                 one.field, one.pattern, parameters.all().front().name,
                                 parameters.all().back().name));
}

/// Under its own name or another: a tied parameter is one.
bool is_named(const ParameterList& parameters, const Parameter& parameter,
              std::string_view pattern) {
    if (matches(pattern, parameter.name)) return true;
    return std::ranges::any_of(parameters.aliases(), [&](const ParameterAlias& alias) {
        return alias.parameter == parameter.name && matches(pattern, alias.name);
    });
}

/// Changes the rules of the parameters that a pattern matches.
void apply(const FieldPattern& one, const ParameterList& parameters,
           std::vector<ParameterRule>& rules, const std::function<void(ParameterRule&)>& change) {
    const bool by_rank = one.pattern == one_dimensional_word;
    bool found = false;
    for (std::size_t i = 0; i < rules.size(); ++i) {
        const Parameter& parameter = parameters.all()[i];
        const bool meant = by_rank ? parameter.input.shape().rank() <= 1
                                   : is_named(parameters, parameter, one.pattern);
        if (meant) change(rules[i]);
        found = found || meant;
    }
    if (!found) refuse_pattern(one, parameters);
}

}    // namespace

UpdatePlan make_update_plan(const JobSpec& spec, const ParameterList& parameters) {
    const OptimizerSpec& optimizer = spec.train.optimizer;
    UpdatePlan plan(optimizer_row(optimizer));
    plan.groups = 1 + optimizer.groups.size();
    plan.clips = optimizer.clip_norm.has_value();
    plan.averages = spec.train.ema.has_value();
    if (exchanges_bf16(spec.accelerator)) plan.exchange = DType::bf16;
    plan.rules.resize(parameters.all().size());
    for (std::size_t i = 0; i < plan.rules.size(); ++i)
        plan.rules[i].trained = parameters.all()[i].trains;

    const auto& freeze = spec.model.freeze;
    for (std::size_t i = 0; i < freeze.size(); ++i)
        apply({fmt::format("model.freeze[{}]", i), freeze[i]}, parameters, plan.rules,
              [](ParameterRule& rule) { rule.trained = false; });
    const auto& exempt = optimizer.decay_exempt;
    for (std::size_t i = 0; i < exempt.size(); ++i)
        apply({fmt::format("train.optimizer.decay_exempt[{}]", i), exempt[i]}, parameters,
              plan.rules, [](ParameterRule& rule) { rule.decays = false; });
    for (std::size_t i = 0; i < optimizer.groups.size(); ++i)
        apply({fmt::format("train.optimizer.groups[{}].match", i), optimizer.groups[i].match},
              parameters, plan.rules, [i](ParameterRule& rule) {
                  if (rule.group == 0) rule.group = i + 1;
              });
    if (std::ranges::none_of(plan.rules, &ParameterRule::trained))
        throw TrainError("spec_error",
                         "nothing is left to train: all parameters are frozen; leave a pattern of "
                         "model.freeze out, or export the network with parameters that require "
                         "gradients");
    return plan;
}

}    // namespace slipway

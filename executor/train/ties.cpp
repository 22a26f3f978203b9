#include "executor/train/ties.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/spec/table/nearest.h"
#include "executor/train/train_error.h"

namespace slipway {

namespace {

constexpr std::size_t names_shown_max = 10;

const Parameter* find_parameter(const ParameterList& parameters, const std::string& name) {
    const auto alias = std::ranges::find(parameters.aliases(), name, &ParameterAlias::name);
    const std::string& own = alias == parameters.aliases().end() ? name : alias->parameter;
    const auto found = std::ranges::find(parameters.all(), own, &Parameter::name);
    return found == parameters.all().end() ? nullptr : &*found;
}

[[noreturn]] void refuse_name(const ParameterList& parameters, const std::string& name,
                              std::size_t pair) {
    const auto is_it = [&](const Parameter& statistic) { return statistic.name == name; };
    std::string why = "it has no such parameter";
    if (std::ranges::any_of(parameters.statistics(), is_it))
        why = "that is a running statistic, which is not trained";
    const std::vector<std::string_view> names(parameters.names().begin(), parameters.names().end());
    if (const auto meant = nearest(name, names)) why += fmt::format("; did you mean {}?", *meant);
    throw TrainError("spec_error", fmt::format("model.tie[{}] names {}, and {}", pair, name, why));
}

void require_one(const ParameterList& parameters, const std::array<std::string, 2>& names,
                 std::size_t pair) {
    std::array<const Parameter*, 2> found{};
    for (std::size_t i = 0; i < 2; ++i) {
        found[i] = find_parameter(parameters, names[i]);
        if (found[i] == nullptr) refuse_name(parameters, names[i], pair);
    }
    if (found[0] == found[1]) return;
    throw TrainError("spec_error",
                     fmt::format("model.tie[{}] ties parameters of one shape, got {} {} and {} {}",
                                 pair, names[0], to_string(found[0]->input.shape()), names[1],
                                 to_string(found[1]->input.shape())));
}

void require_free_head(const Model& model) {
    const auto in_head = [&](const std::string& name) {
        return name.starts_with(model.head + ".");
    };
    for (const ParameterAlias& alias : model.parameters.aliases()) {
        if (in_head(alias.name) == in_head(alias.parameter)) continue;
        throw TrainError(
            "spec_error",
            fmt::format("model.head.replace initialises {}, and {} is tied to {}, which "
                        "stays; leave one of the two out",
                        model.head, alias.name, alias.parameter));
    }
}

}    // namespace

void prepare_ties(ParameterList& parameters, const ModelSpec& spec) {
    for (const auto& [one, other] : spec.tie)
        parameters.tie(one, other);
}

void require_ties(const Model& model, const ModelSpec& spec) {
    for (std::size_t pair = 0; pair < spec.tie.size(); ++pair)
        require_one(model.parameters, spec.tie[pair], pair);
    if (!spec.tie.empty() && spec.head.replace) require_free_head(model);
}

std::string describe_count(const ParameterList& parameters) {
    std::string text = fmt::format("{} parameters", parameters.element_count());
    std::int64_t tied = 0;
    std::string names;
    std::size_t shown = 0;
    for (const ParameterAlias& alias : parameters.aliases()) {
        tied += find_parameter(parameters, alias.name)->input.shape().element_count();
        if (shown++ < names_shown_max)
            names +=
                fmt::format("{}{} is {}", names.empty() ? "" : ", ", alias.name, alias.parameter);
    }
    if (shown > names_shown_max) names += fmt::format(" and {} more", shown - names_shown_max);
    if (tied > 0) text += fmt::format(", {} tied ({})", tied, names);
    return text;
}

}    // namespace slipway

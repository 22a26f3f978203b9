// The search space differs from other objects in one way: its keys are paths that may be nested. It
// is therefore a kind of its own that flattens while it reads; what a parameter is made of stays a
// table. Rules that compare parameters (conditions, paths inside one another) run when every
// parameter by itself is right.

#include <algorithm>
#include <cmath>
#include <set>

#include "api/base/parsed_json.h"
#include "api/base/plural.h"
#include "api/spec/search_tables.h"
#include "api/spec/table/collections.h"

namespace slipway {

namespace {

constexpr int nesting_max = 16;
constexpr std::size_t path_characters_max = 200;

bool is_path_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

bool is_search_path(std::string_view text) {
    if (text.empty() || text.size() > path_characters_max) return false;
    char previous = '.';
    for (const char c : text) {
        if (c == '.' ? previous == '.' : !is_path_character(c)) return false;
        previous = c;
    }
    return previous != '.';
}

bool is_log(ParameterType type) {
    return type == ParameterType::log_uniform || type == ParameterType::log_int_uniform;
}

bool is_integer(ParameterType type) {
    return type == ParameterType::int_uniform || type == ParameterType::log_int_uniform;
}

bool is_whole(double number) {
    return number == std::trunc(number) && std::abs(number) <= 9007199254740992.0;
}

void judge_bounds(const ParameterSpec& spec, const Reader& at) {
    if (!(spec.min < spec.max)) {
        at.at("max").report("inconsistent", fmt::format("{} must be above min, {}, got {}",
                                                        at.at("max").path(), spec.min, spec.max));
    }
    if (is_log(spec.type) && !(spec.min > 0)) {
        at.at("min").report("out_of_bounds",
                            fmt::format("{} must be above 0 with type {}, got {}",
                                        at.at("min").path(), to_string(spec.type), spec.min));
    }
    for (const auto& [name, bound] : {std::pair("min", spec.min), std::pair("max", spec.max)}) {
        if (!is_integer(spec.type) || is_whole(bound)) continue;
        at.at(name).report("out_of_bounds",
                           fmt::format("{} must be a whole number with type {}, got {}",
                                       at.at(name).path(), to_string(spec.type), bound));
    }
}

void judge_step(const ParameterSpec& spec, bool has_bounds, const Reader& at) {
    if (!spec.step) return;
    const Reader here = at.at("step");
    if (is_integer(spec.type) && !is_whole(*spec.step)) {
        return here.report("out_of_bounds",
                           fmt::format("{} must be a whole number with type {}, "
                                       "got {}",
                                       here.path(), to_string(spec.type), *spec.step));
    }
    if (has_bounds && spec.max > spec.min && *spec.step > spec.max - spec.min) {
        here.report("inconsistent", fmt::format("{} must be at most max - min, {}, got {}",
                                                here.path(), spec.max - spec.min, *spec.step));
    }
}

void judge_parameter(const Json&, ParameterSpec& spec, const Reader& at) {
    const bool has_bounds =
        spec.type != ParameterType::constant && spec.type != ParameterType::choice &&
        spec.type != ParameterType::normal && spec.type != ParameterType::log_normal;
    if (has_bounds) judge_bounds(spec, at);
    judge_step(spec, has_bounds, at);
}

/// One parameter as it was found: where, and what.
struct Found {
    Reader at;
    ParameterSpec spec;
};
using FoundByPath = std::map<std::string, Found>;

bool is_parameter(const Json& json) {
    const auto type = json.find("type");
    return type != json.end() && type->is_string();
}

void read_parameter(const Json& json, const std::string& path, const Reader& at,
                    FoundByPath& found) {
    if (const auto earlier = found.find(path); earlier != found.end()) {
        return at.report("conflicting_fields",
                         fmt::format("the parameter {} is given twice, also at {}; leave one out",
                                     path, earlier->second.at.pointer()));
    }
    ParameterSpec spec;
    parameter_table().read(json, spec, at);
    spec.given_at.pointer = at.pointer();
    found.emplace(path, Found{at, std::move(spec)});
}

void read_level(const Json& json, const std::string& prefix, int depth, const Reader& at,
                FoundByPath& found) {
    for (const auto& [key, entry] : json.items()) {
        const Reader here = at.at(std::string_view(key));
        const std::string path = prefix.empty() ? key : prefix + "." + key;
        if (!is_search_path(path)) {
            here.report("bad_format", fmt::format("the key \"{}\" in {} must be {}", shortened(key),
                                                  at.path(), search_path_form.wanted));
        } else if (!entry.is_object()) {
            here.refuse("wrong_type",
                        "a parameter, an object with type (for a fixed value: {\"type\": "
                        "\"constant\", \"value\": …}), or an object of parameters",
                        entry);
        } else if (is_parameter(entry)) {
            read_parameter(entry, path, here, found);
        } else if (entry.empty() || depth == nesting_max) {
            const Reader type = here.at("type");
            type.report("missing_field",
                        fmt::format("{} is required: a parameter has a type, one of {}",
                                    type.path(), joined_with_or(all_words<ParameterType>())),
                        as_strings(all_words<ParameterType>()));
        } else {
            read_level(entry, path, depth + 1, here, found);
        }
    }
}

std::vector<std::string_view> paths_of(const FoundByPath& found) {
    std::vector<std::string_view> paths;
    for (const auto& [path, one] : found)
        paths.push_back(path);
    return paths;
}

/// Whether a value is possible for a parameter whose values can be counted.
bool can_be(const ParameterSpec& spec, const Json& value) {
    if (spec.type == ParameterType::constant) return spec.value == value;
    if (spec.type == ParameterType::choice)
        return std::find(spec.values.begin(), spec.values.end(), value) != spec.values.end();
    if (!value.is_number()) return false;
    const double number = value.get<double>();
    const double steps = (number - spec.min) / spec.step.value_or(1);
    return number >= spec.min && number <= spec.max && is_whole(steps);
}

std::string values_of(const ParameterSpec& spec) {
    if (spec.type == ParameterType::constant) return shown(spec.value);
    if (spec.type != ParameterType::choice)
        return fmt::format("a whole number from {} to {}{}", spec.min, spec.max,
                           spec.step ? fmt::format(" in steps of {}", *spec.step) : "");
    std::string text;
    for (std::size_t i = 0; i < spec.values.size() && i < 16; ++i)
        text += (i == 0 ? "" : i + 1 == spec.values.size() ? " or " : ", ") + shown(spec.values[i]);
    return spec.values.size() > 16 ? text + ", …" : text;
}

std::vector<std::string> allowed_values(const ParameterSpec& spec) {
    std::vector<std::string> allowed;
    for (const Json& one : spec.values)
        if (allowed.size() < 100) allowed.push_back(one.dump());
    return allowed;
}

void judge_condition(const std::string& parent, const std::vector<Json>& values, const Reader& at,
                     const FoundByPath& found) {
    const auto other = found.find(parent);
    if (other == found.end()) {
        const auto names = paths_of(found);
        const auto meant = nearest(parent, names);
        return at.report("not_allowed",
                         fmt::format("{} must name a parameter of the space, got \"{}\"{}",
                                     at.path(), shortened(parent),
                                     meant ? fmt::format("; did you mean \"{}\"?", *meant) : ""),
                         as_strings(names));
    }
    const ParameterSpec& spec = other->second.spec;
    const bool is_countable = spec.type == ParameterType::constant ||
                              spec.type == ParameterType::choice || is_integer(spec.type);
    if (!is_countable) {
        return at.report("not_allowed",
                         fmt::format("{} must name a parameter of type constant, choice or "
                                     "int_uniform, got one of type {}; use a constraint instead",
                                     at.path(), to_string(spec.type)),
                         {"constant", "choice", "int_uniform", "log_int_uniform"});
    }
    for (const Json& value : values) {
        if (can_be(spec, value)) continue;
        at.refuse("not_allowed",
                  fmt::format("a value that {} can have, {}", parent, values_of(spec)), value,
                  allowed_values(spec));
    }
}

/// Whether following conditions from `path` upwards meets it again.
bool waits_for_itself(const std::string& path, const FoundByPath& found) {
    std::set<std::string> seen;
    std::vector<std::string> open{path};
    while (!open.empty()) {
        const std::string next = std::move(open.back());
        open.pop_back();
        const auto one = found.find(next);
        if (one == found.end()) continue;
        for (const auto& [parent, values] : one->second.spec.when) {
            if (parent == path) return true;
            if (seen.insert(parent).second) open.push_back(parent);
        }
    }
    return false;
}

void judge_together(const FoundByPath& found) {
    for (const auto& [path, one] : found) {
        const Reader when = one.at.at("when");
        for (const auto& [parent, values] : one.spec.when)
            judge_condition(parent, values, when.at(std::string_view(parent)), found);
        if (waits_for_itself(path, found)) {
            when.report("inconsistent",
                        fmt::format("{} makes {} depend on itself; remove one of the conditions",
                                    when.path(), path));
        }
        const auto next = found.upper_bound(path + ".");
        if (next != found.end() && next->first.starts_with(path + ".")) {
            next->second.at.report(
                "conflicting_fields",
                fmt::format("the parameter {} is inside of the parameter {}; leave one of them out",
                            next->first, path));
        }
    }
}

Decoded<SearchSpace> decode_space(const Json& json, const std::vector<JsonProblem>& duplicates) {
    Decoded<SearchSpace> decoded{};
    for (const JsonProblem& one : duplicates)
        decoded.problems.push_back({one.pointer, one.code, one.message});
    const auto& table = search_space_table();
    table.read(json, decoded.value, Reader(decoded.problems, table));
    sort_problems(decoded.problems);
    return decoded;
}

}    // namespace

const TextForm search_path_form{
    "a path of at most 200 characters: names of letters, digits, dashes and underscores, joined by "
    "dots",
    "^[A-Za-z0-9_-]+([.][A-Za-z0-9_-]+)*$", is_search_path};

void AnyValue::read(const Json& json, Json& value, const Reader& at) const {
    const bool is_infinite = json.is_number_float() && !std::isfinite(json.get<double>());
    if (json.is_null() || is_infinite) return at.refuse("wrong_type", wanted(), json);
    value = json;
}

Json AnyValue::schema(Definitions&) const {
    return {{"type", {"number", "string", "boolean", "array", "object"}},
            {"items", Json::object()}};
}

void SpaceKind::read(const Json& json, Value& value, const Reader& at) const {
    if (!json.is_object()) return at.refuse("wrong_type", wanted(), json);
    const std::size_t problems = at.problem_count();
    FoundByPath found;
    read_level(json, "", 1, at, found);
    if (at.problem_count() > problems) return;
    if (found.empty() || found.size() > search_parameters_max) {
        return at.report("out_of_bounds", fmt::format("{} must be {}, got {}", at.path(), wanted(),
                                                      counted(found.size(), "parameter")));
    }
    judge_together(found);
    value.clear();
    for (auto& [path, one] : found)
        value.emplace(path, std::move(one.spec));
}

Json SpaceKind::write(const Value& value) const {
    Json object = Json::object();
    for (const auto& [path, spec] : value)
        object[path] = parameter_table().write(spec);
    return object;
}

Json SpaceKind::schema(Definitions& definitions) const {
    return {{"type", "object"},
            {"minProperties", 1},
            {"additionalProperties",
             {{"anyOf", Json::array({definitions.refer(parameter_table()),
                                     Json{{"type", "object"}, {"minProperties", 1}}})}}}};
}

std::string SpaceKind::wanted() const {
    return fmt::format("an object of 1 to {} parameters by path", search_parameters_max);
}

const Object<ParameterSpec>& parameter_table() {
    const auto type_names = all_words<ParameterType>();
    static const auto table =
        Object<ParameterSpec>("ParameterSpec", "One parameter of a search space.")
            .variants("type", {type_names.begin(), type_names.end()}, "",
                      [](const ParameterSpec& spec) { return to_string(spec.type); })
            .field("type", &ParameterSpec::type, "Distribution of the parameter.",
                   Choice<ParameterType>{}, {.required = true})
            .field("value", &ParameterSpec::value, "The value.", AnyValue{},
                   {.required = true, .only = {"constant"}})
            .field("values", &ParameterSpec::values, "Values to choose from.",
                   List<AnyValue>{.item = {}, .min = 1, .max = search_values_max, .unique = true},
                   {.required = true, .only = {"choice"}})
            .field("ordered", &ParameterSpec::ordered,
                   "Neighbouring values are similar: samplers may learn from neighbours.", Flag{},
                   {.only = {"choice"}})
            .field("min", &ParameterSpec::min, "Lower bound, included.", Number{},
                   {.required = true,
                    .only = {"uniform", "log_uniform", "int_uniform", "log_int_uniform"}})
            .field("max", &ParameterSpec::max, "Upper bound, included.", Number{},
                   {.required = true,
                    .only = {"uniform", "log_uniform", "int_uniform", "log_int_uniform"}})
            .field("mean", &ParameterSpec::mean, "Mean; of log_normal the mean of the logarithm.",
                   Number{}, {.required = true, .only = {"normal", "log_normal"}})
            .field("std", &ParameterSpec::std,
                   "Standard deviation; of log_normal that of the logarithm.", Number{.above = 0},
                   {.required = true, .only = {"normal", "log_normal"}})
            .field("step", &ParameterSpec::step,
                   "Quantum: values are min + k * step, for normal types k * step. Default: 1 for "
                   "integers, otherwise continuous.",
                   Number{.above = 0},
                   {.only = {"uniform", "log_uniform", "int_uniform", "log_int_uniform", "normal",
                             "log_normal"}})
            .field("count", &ParameterSpec::count,
                   "Number of values in a grid, evenly spaced on the parameter's scale. Default: "
                   "all values of integers and quantised parameters.",
                   Integer{.min = 1, .max = search_values_max},
                   {.only = {"uniform", "log_uniform", "int_uniform", "log_int_uniform"}})
            .field("when", &ParameterSpec::when,
                   "The parameter exists only if each parameter named here has one of the given "
                   "values.",
                   Map<OneOrList<AnyValue>>{
                       .key = &search_path_form,
                       .item = {.list = {.item = {}, .min = 1, .max = search_values_max}}},
                   {.absent_when_empty = true})
            .rule(judge_parameter);
    return table;
}

const Object<SearchSpace>& search_space_table() {
    static const auto table =
        Object<SearchSpace>("SearchSpace", "Parameters of a search and their constraints.")
            .field("space", &SearchSpace::space, "Parameters by dotted path into the job spec.",
                   SpaceKind{}, {.required = true})
            .field("constraints", &SearchSpace::constraints,
                   "Expressions that every point satisfies, such as \"train.batch_size_per_core "
                   "<= 64 or model.arch == 'resnet18'\".",
                   List<Text>{.item = {.max = 1000}, .max = 64}, {.absent_when_empty = true});
    return table;
}

Decoded<SearchSpace> decode_search_space(const ParsedJson& parsed) {
    return decode_space(parsed.value, parsed.duplicates);
}

Decoded<SearchSpace> decode_search_space(const Json& json) {
    return decode_space(json, {});
}

Json encode(const SearchSpace& space) {
    return search_space_table().write(space);
}

}    // namespace slipway

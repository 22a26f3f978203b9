// Whether a space fits a job is asked of the job's own decoder: values are put in, and what it says
// against them is reported with the parameter's place. Bounds are therefore written once, in the
// field tables. One parameter moves at a time, so the cost is the number of values, not of points;
// what only a combination breaks is found when the trial is made, or told apart by a constraint.

#include "scheduler/search/job_point.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "api/spec/tables.h"
#include "scheduler/search/parameter.h"

namespace slipway::search {

namespace {

constexpr std::size_t problems_max = 100;
// Values that are tried, times parameters: each value is put into a job with all parameters. About
// half a second.
constexpr std::size_t check_effort_max = 400'000;
// In parameters, what the decoder does besides: of a usual job, and of each value in a larger one.
constexpr std::size_t effort_of_usual_job = 20;
constexpr std::size_t job_values_per_effort = 2;
// Of a normal parameter: one of 10,000 draws is beyond.
constexpr double tail = 0.0001;

std::vector<std::string> names_of(std::string_view path) {
    std::vector<std::string> names(1);
    for (const char c : path) {
        if (c == '.') {
            names.emplace_back();
        } else {
            names.back() += c;
        }
    }
    return names;
}

std::string pointer_of(std::string_view path) {
    std::string pointer;
    for (const std::string& name : names_of(path))
        pointer = json_pointer(pointer, name);
    return pointer;
}

std::optional<std::size_t> index_of(const std::string& name, std::size_t size) {
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
    if (error != std::errc{} || end != name.data() + name.size() || index >= size)
        return std::nullopt;
    return index;
}

/// Sets the value; what is in the way, in words, when it cannot.
std::optional<std::string> put(Json& job, const std::string& path, const Json& value) {
    Json* at = &job;
    std::string way;
    for (const std::string& name : names_of(path)) {
        if (at->is_array()) {
            const auto index = index_of(name, at->size());
            if (!index) {
                return fmt::format("{} is an array of {} elements, which has no element \"{}\"",
                                   way, at->size(), name);
            }
            at = &(*at)[*index];
        } else if (at->is_null() && !way.empty() && index_of(name, SIZE_MAX)) {
            return fmt::format(
                "{0} is not in the job; give the whole list there, \"{0}\": [ … ], "
                "so that its element {1} can be set",
                way, name);
        } else if (at->is_object() || at->is_null()) {
            at = &(*at)[name];
        } else {
            return fmt::format("{} is {}, which has no field \"{}\"", way, shown(*at), name);
        }
        way += (way.empty() ? "" : ".") + name;
    }
    *at = value;
    return std::nullopt;
}

/// Follows a path through the field tables: what is wrong with it, as far as tables say.
std::optional<Problem> unknown_field(const Parameter& parameter) {
    const ObjectTable* table = &job_table();
    std::string way = "a job";
    for (const std::string& name : names_of(parameter.path)) {
        if (table == nullptr) return std::nullopt;    // inside a list or a map: the decoder says
        const Row* row = table->find(name);
        if (row == nullptr) {
            std::vector<std::string_view> names;
            for (const Row& one : table->rows())
                names.push_back(one.name);
            std::string hint = fmt::format("{} has {}", way, fmt::join(names, ", "));
            if (const auto meant = nearest(name, names)) {
                hint = fmt::format("did you mean \"{}\"?", *meant);
            } else if (const auto place = job_table().pointer_to(name)) {
                hint = fmt::format("did you mean {}?", dotted_path(*place));
            }
            return Problem{
                parameter.spec.given_at.pointer, "unknown_field",
                fmt::format(
                    "the parameter {} is not a field of a job: there is no \"{}\" in {}; {}",
                    parameter.path, name, way, hint),
                as_strings(names)};
        }
        table = row->nested;
        way = way == "a job" ? name : way + "." + name;
    }
    return std::nullopt;
}

/// A value to try, and where in the parameter it is written.
struct Probe {
    Json value;
    std::string place;
};

std::vector<Probe> probes_of(const ParameterSpec& spec) {
    using enum ParameterType;
    if (spec.type == constant) return {{spec.value, "/value"}};
    if (spec.type == normal || spec.type == log_normal) {
        return {{value_at(spec, 0.5), "/mean"},
                {value_at(spec, tail), "/std"},
                {value_at(spec, 1 - tail), "/std"}};
    }
    if (spec.type != choice) return {{value_at(spec, 0), "/min"}, {value_at(spec, 1), "/max"}};
    std::vector<Probe> probes;
    for (std::size_t i = 0; i < spec.values.size(); ++i)
        probes.push_back({spec.values[i], json_pointer("/values", i)});
    return probes;
}

Json first_value(const ParameterSpec& spec) {
    using enum ParameterType;
    if (spec.type == constant) return spec.value;
    if (spec.type == choice) return spec.values.front();
    return value_at(spec, spec.type == normal || spec.type == log_normal ? 0.5 : 0);
}

std::size_t count_values(const Json& json) {
    std::size_t count = 1;
    if (json.is_structured())
        for (const Json& one : json)
            count += count_values(one);
    return count;
}

std::optional<Problem> too_many_values(const Space& space, const Json& job) {
    std::size_t values = 0;
    for (const Parameter& one : space.parameters())
        values += std::max<std::size_t>(one.spec.values.size(), 2);
    const std::size_t effort_of_job =
        std::max(effort_of_usual_job, count_values(job) / job_values_per_effort);
    const std::size_t values_max = check_effort_max / (effort_of_job + space.parameters().size());
    if (values <= values_max) return std::nullopt;
    return Problem{"/space", "out_of_bounds",
                   fmt::format("{} parameters of this job may have at most {} values in all, got "
                               "{}: each is tried in the job; use int_uniform with step, or fewer "
                               "values",
                               space.parameters().size(), values_max, values)};
}

class SpaceCheck {
public:
    SpaceCheck(const Space& space, const Json& job) : space_(space), job_(job) {}

    std::vector<Problem> run() {
        for (const Parameter& parameter : space_.parameters())
            if (auto problem = unknown_field(parameter)) problems_.push_back(std::move(*problem));
        if (problems_.empty())
            if (auto problem = too_many_values(space_, job_))
                problems_.push_back(std::move(*problem));
        if (!problems_.empty()) return std::move(problems_);
        check_job();
        for (const Parameter& parameter : space_.parameters())
            check_parameter(parameter);
        return std::move(problems_);
    }

private:
    /// The values with which `parameter` exists, the others at their first ones.
    Point base_point(const Parameter* parameter, const Json& value) const {
        std::map<std::string, Json> forced;
        if (parameter != nullptr) {
            forced[parameter->path] = value;
            force_parents(*parameter, forced);
        }
        Point point;
        for (const Parameter& one : space_.parameters()) {
            if (!space_.exists(one, point)) continue;
            const auto found = forced.find(one.path);
            point[one.path] = found == forced.end() ? first_value(one.spec) : found->second;
        }
        return point;
    }

    void force_parents(const Parameter& parameter, std::map<std::string, Json>& forced) const {
        for (const auto& [path, values] : parameter.spec.when) {
            if (!forced.emplace(path, values.front()).second) continue;
            if (const Parameter* parent = space_.find(path)) force_parents(*parent, forced);
        }
    }

    bool is_of_a_parameter(const std::string& pointer) const {
        return std::ranges::any_of(space_.parameters(), [&](const Parameter& one) {
            return is_inside(pointer, pointer_of(one.path));
        });
    }

    static bool is_inside(const std::string& pointer, const std::string& outer) {
        return pointer == outer || pointer.starts_with(outer + "/");
    }

    void check_job() {
        Result<Json> job = with_point(job_, base_point(nullptr, nullptr));
        if (!job) return;    // each parameter in the way is reported by its own check
        for (Problem problem : job_table().check(*job)) {
            known_.insert({problem.pointer, problem.code});
            if (is_of_a_parameter(problem.pointer)) continue;
            problem.pointer = "/job" + problem.pointer;
            report(std::move(problem));
        }
    }

    void check_parameter(const Parameter& parameter) {
        const std::string own = pointer_of(parameter.path);
        for (const Probe& probe : probes_of(parameter.spec)) {
            if (problems_.size() >= problems_max) return;
            const Point point = base_point(&parameter, probe.value);
            Json job = job_;
            if (const auto in_the_way = put(job, parameter.path, probe.value)) {
                return report({parameter.spec.given_at.pointer, "unknown_field",
                               fmt::format("the parameter {} cannot be set: {}", parameter.path,
                                           *in_the_way)});
            }
            const Result<Json> whole = with_point(job_, point);
            if (!whole) continue;
            const bool is_excluded = space_.broken_constraint(point) != nullptr;
            for (const Problem& problem : job_table().check(*whole)) {
                const bool is_own = is_inside(problem.pointer, own);
                if (!is_own && (is_excluded || known_.contains({problem.pointer, problem.code})))
                    continue;
                report({parameter.spec.given_at.pointer + probe.place, problem.code,
                        fmt::format("{} cannot be {}: {}", parameter.path, shown(probe.value),
                                    problem.message),
                        problem.allowed});
                break;
            }
        }
    }

    void report(Problem problem) {
        if (problems_.size() < problems_max) problems_.push_back(std::move(problem));
    }

    const Space& space_;
    const Json& job_;
    std::vector<Problem> problems_;
    std::set<std::pair<std::string, std::string>> known_;
};

}    // namespace

Result<Json> with_point(const Json& job, const Point& point) {
    Json result = job.is_null() ? Json::object() : job;
    for (const auto& [path, value] : point) {
        if (const auto in_the_way = put(result, path, value)) {
            return Error(ErrorCode::invalid_argument,
                         fmt::format("{} cannot be set: {}", path, *in_the_way));
        }
    }
    return result;
}

std::vector<Problem> space_problems(const Space& space, const Json& job) {
    std::vector<Problem> problems = SpaceCheck(space, job).run();
    sort_problems(problems);
    return problems;
}

}    // namespace slipway::search

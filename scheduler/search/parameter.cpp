// Each type is a monotone function from the unit interval to values. Quantised types divide the
// interval into cells: equal ones on a linear scale, and on a logarithmic scale those that the
// values nearest to each quantum occupy, half a quantum beyond both bounds. Rounding a continuous
// number instead would give the first and the last value half of what the others get.

#include "scheduler/search/parameter.h"

#include <algorithm>
#include <cmath>

#include "scheduler/search/stable_math.h"

namespace slipway::search {

namespace {

using enum ParameterType;

// 0 and 1 have no quantile.
constexpr double probability_min = 0x1p-53;
constexpr double probability_max = 1 - 0x1p-53;
// What a quotient of two decimals may miss a whole number by.
constexpr double rounding = 1e-9;

bool is_integer(const ParameterSpec& spec) {
    return spec.type == int_uniform || spec.type == log_int_uniform;
}

bool is_log(const ParameterSpec& spec) {
    return spec.type == log_uniform || spec.type == log_int_uniform;
}

bool is_normal(const ParameterSpec& spec) {
    return spec.type == normal || spec.type == log_normal;
}

std::optional<double> step_of(const ParameterSpec& spec) {
    return is_integer(spec) ? spec.step.value_or(1) : spec.step;
}

/// The number of the last quantum.
double last_quantum(const ParameterSpec& spec, double step) {
    return std::floor((spec.max - spec.min) / step + rounding);
}

double quantum(const ParameterSpec& spec, double step, double k) {
    const double number = spec.min + k * step;
    return is_integer(spec) ? std::trunc(number) : rounded_decimal(number);
}

Json json_of(const ParameterSpec& spec, double number) {
    if (is_integer(spec)) return std::int64_t(number);
    return number;
}

/// The bounds of a quantised logarithmic scale: half a quantum beyond min and max.
struct LogScale {
    double low;
    double high;
};

LogScale log_scale(const ParameterSpec& spec, std::optional<double> step) {
    if (!step) return {stable_log(spec.min), stable_log(spec.max)};
    const double last = spec.min + last_quantum(spec, *step) * *step;
    return {stable_log(std::max(spec.min - *step / 2, spec.min / 2)), stable_log(last + *step / 2)};
}

double log_value(const ParameterSpec& spec, double u) {
    const std::optional<double> step = step_of(spec);
    const LogScale scale = log_scale(spec, step);
    const double number = stable_exp(scale.low + (scale.high - scale.low) * u);
    if (!step) return std::clamp(number, spec.min, spec.max);
    const double k = std::floor((number - spec.min) / *step + 0.5);
    return quantum(spec, *step, std::clamp(k, 0.0, last_quantum(spec, *step)));
}

double linear_value(const ParameterSpec& spec, double u) {
    const std::optional<double> step = step_of(spec);
    if (!step) return std::clamp(spec.min + (spec.max - spec.min) * u, spec.min, spec.max);
    const double last = last_quantum(spec, *step);
    return quantum(spec, *step, std::min(std::floor(u * (last + 1)), last));
}

double normal_value(const ParameterSpec& spec, double u) {
    const double p = std::clamp(u, probability_min, probability_max);
    double number = spec.mean + spec.std * normal_quantile(p);
    if (spec.type == log_normal) number = stable_exp(number);
    if (!spec.step) return number;
    return rounded_decimal(std::floor(number / *spec.step + 0.5) * *spec.step);
}

Interval log_interval(const ParameterSpec& spec, double number) {
    const std::optional<double> step = step_of(spec);
    const LogScale scale = log_scale(spec, step);
    const auto unit = [&](double at) {
        return std::clamp((stable_log(at) - scale.low) / (scale.high - scale.low), 0.0, 1.0);
    };
    if (!step) return {unit(number), unit(number)};
    const double k = std::floor((number - spec.min) / *step + 0.5);
    return {k == 0 ? 0 : unit(number - *step / 2),
            k == last_quantum(spec, *step) ? 1 : unit(number + *step / 2)};
}

Interval linear_interval(const ParameterSpec& spec, double number) {
    const std::optional<double> step = step_of(spec);
    if (!step) {
        const double u = (number - spec.min) / (spec.max - spec.min);
        return {u, u};
    }
    const double count = last_quantum(spec, *step) + 1;
    const double k = std::floor((number - spec.min) / *step + 0.5);
    return {k / count, (k + 1) / count};
}

Interval normal_interval(const ParameterSpec& spec, double number) {
    const auto unit = [&](double at) {
        if (spec.type == log_normal && at <= 0) return 0.0;
        const double x = spec.type == log_normal ? stable_log(at) : at;
        return normal_cdf((x - spec.mean) / spec.std);
    };
    const double half = spec.step.value_or(0) / 2;
    return {unit(number - half), unit(number + half)};
}

std::optional<Interval> interval_of_number(const ParameterSpec& spec, double number) {
    if (is_normal(spec)) {
        if (spec.type == log_normal && number < 0) return std::nullopt;
        return normal_interval(spec, number);
    }
    if (number < spec.min || number > spec.max) return std::nullopt;
    if (const auto step = step_of(spec)) {
        const double k = (number - spec.min) / *step;
        if (std::abs(k - std::floor(k + 0.5)) > 1e-6) return std::nullopt;
    }
    return is_log(spec) ? log_interval(spec, number) : linear_interval(spec, number);
}

/// `count` values from min to max, evenly spaced on the scale; equal neighbours once.
std::vector<Json> spaced_values(const ParameterSpec& spec, std::int64_t count) {
    std::vector<Json> values;
    const std::optional<double> step = step_of(spec);
    for (std::int64_t i = 0; i < count; ++i) {
        const double part = count == 1 ? 0.5 : double(i) / double(count - 1);
        double number = spec.min + (spec.max - spec.min) * part;
        if (is_log(spec)) {
            const double low = stable_log(spec.min);
            number = stable_exp(low + (stable_log(spec.max) - low) * part);
        }
        number = std::clamp(rounded_decimal(number), spec.min, spec.max);
        if (step) {
            const double k =
                std::min(std::floor((number - spec.min) / *step + 0.5), last_quantum(spec, *step));
            number = rounded_decimal(spec.min + k * *step);
        }
        const Json value = json_of(spec, number);
        if (values.empty() || values.back() != value) values.push_back(value);
    }
    return values;
}

}    // namespace

Json value_at(const ParameterSpec& spec, double u) {
    const Operand value = operand_at(spec, u);
    return value.json != nullptr ? *value.json : json_of(spec, value.number);
}

Operand operand_at(const ParameterSpec& spec, double u) {
    switch (spec.type) {
        case constant:
            return Operand::of(spec.value);
        case choice: {
            const double count = double(spec.values.size());
            return Operand::of(
                spec.values[std::size_t(std::min(std::floor(u * count), count - 1))]);
        }
        case uniform:
        case int_uniform:
            return Operand::of(linear_value(spec, u));
        case log_uniform:
        case log_int_uniform:
            return Operand::of(log_value(spec, u));
        case normal:
        case log_normal:
            return Operand::of(normal_value(spec, u));
    }
    return Operand::nothing();
}

std::optional<Interval> interval_of(const ParameterSpec& spec, const Json& value) {
    if (spec.type == constant) {
        return value == spec.value ? std::optional(Interval{0, 1}) : std::nullopt;
    }
    if (spec.type == choice) {
        const auto found = std::find(spec.values.begin(), spec.values.end(), value);
        if (found == spec.values.end()) return std::nullopt;
        const double count = double(spec.values.size());
        const double index = double(found - spec.values.begin());
        return Interval{index / count, (index + 1) / count};
    }
    if (!value.is_number()) return std::nullopt;
    return interval_of_number(spec, value.get<double>());
}

std::optional<std::uint64_t> value_count(const ParameterSpec& spec) {
    if (spec.type == constant) return 1;
    if (spec.type == choice) return spec.values.size();
    const std::optional<double> step = step_of(spec);
    if (!step || is_normal(spec)) return std::nullopt;
    return std::uint64_t(last_quantum(spec, *step)) + 1;
}

bool is_categorical(const ParameterSpec& spec) {
    return spec.type == choice && !spec.ordered;
}

std::optional<std::uint64_t> grid_count(const ParameterSpec& spec) {
    if (spec.count) return spaced_values(spec, *spec.count).size();
    return value_count(spec);
}

std::vector<Json> spaced_grid(const ParameterSpec& spec) {
    const auto values = spaced_values(spec, spec.count.value_or(0));
    return {values.begin(), values.end()};
}

Json grid_value(const ParameterSpec& spec, std::uint64_t index) {
    if (spec.type == constant) return spec.value;
    if (spec.type == choice) return spec.values[index];
    if (spec.count) return spaced_values(spec, *spec.count)[index];
    return json_of(spec, quantum(spec, step_of(spec).value_or(1), double(index)));
}

}    // namespace slipway::search

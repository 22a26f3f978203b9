#include "api/base/metric_value.h"

#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace slipway {

namespace {

struct Nonfinite {
    std::string_view word;
    double value;
};

constexpr std::array<Nonfinite, 3> nonfinite_rows{
    {{"nan", std::numeric_limits<double>::quiet_NaN()},
     {"inf", std::numeric_limits<double>::infinity()},
     {"-inf", -std::numeric_limits<double>::infinity()}}};

double value_of_word(const Json& word) {
    for (const Nonfinite& row : nonfinite_rows)
        if (word.is_string() && word.get_ref<const std::string&>() == row.word) return row.value;
    return nonfinite_rows[0].value;
}

double value_or_word(const Json& value, const Json& word) {
    return value.is_null() ? value_of_word(word) : value.get<double>();
}

}    // namespace

std::string_view nonfinite_word(double value) noexcept {
    if (std::isnan(value)) return nonfinite_rows[0].word;
    if (std::isinf(value)) return nonfinite_rows[value > 0 ? 1 : 2].word;
    return {};
}

void put_value(Json& object, double value) {
    const std::string_view word = nonfinite_word(value);
    object["value"] = word.empty() ? Json(value) : Json();
    if (!word.empty()) object["nonfinite"] = word;
}

void put_named_value(Json& values, Json& nonfinite, const std::string& name, double value) {
    const std::string_view word = nonfinite_word(value);
    values[name] = word.empty() ? Json(value) : Json();
    if (!word.empty()) nonfinite[name] = word;
}

void put_named_values(Json& object, std::span<const std::pair<std::string, double>> values) {
    Json numbers = Json::object();
    Json nonfinite = Json::object();
    for (const auto& [name, value] : values)
        put_named_value(numbers, nonfinite, name, value);
    object["values"] = std::move(numbers);
    if (!nonfinite.empty()) object["nonfinite"] = std::move(nonfinite);
}

double read_value(const Json& object) {
    return value_or_word(object.at("value"), object.value("nonfinite", Json()));
}

double read_named_value(const Json& value, const Json& nonfinite, const std::string& name) {
    return value_or_word(value, nonfinite.is_object() ? nonfinite.value(name, Json()) : Json());
}

}    // namespace slipway

#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "api/spec/documents.h"
#include "api/spec/spelling.h"

namespace slipway {

// The space of a hyperparameter search as plain data. Bounds, documentation and rules are in the
// field tables (search_space_tables.cpp); sampling is in scheduler/search.

enum class ParameterType {
    constant,
    choice,
    uniform,
    log_uniform,
    int_uniform,
    log_int_uniform,
    normal,
    log_normal
};

/// Where a parameter was given, for messages: no part of what it is.
struct GivenAt {
    std::string pointer;    ///< from the document's root: "/space/train/optimizer.lr"
    bool operator==(const GivenAt&) const { return true; }
};

/// One parameter. `value` belongs to constant, `values` and `ordered` to choice, `min` and `max` to
/// the uniform types, `mean` and `std` to the normal ones.
struct ParameterSpec {
    ParameterType type = ParameterType::uniform;
    Json value;
    std::vector<Json> values;
    bool ordered = false;    ///< the values of a choice are in an order that means something
    double min = 0;
    double max = 1;
    double mean = 0;    ///< of log_normal: of the logarithm
    double std = 1;
    /// Quantum: min + k * step; of the normal types k * step.
    std::optional<double> step;
    std::optional<std::int64_t> count;    ///< values in a grid
    /// Other parameter -> its values with which this one exists. All must hold.
    std::map<std::string, std::vector<Json>> when;
    GivenAt given_at;
    bool operator==(const ParameterSpec&) const = default;
};

/// `space` and `constraints` of a sweep.
struct SearchSpace {
    /// By dotted path into the job spec: "train.optimizer.lr".
    std::map<std::string, ParameterSpec> space;
    /// Expressions over the paths that a point must satisfy (scheduler/search/constraint.h).
    std::vector<std::string> constraints;
    bool operator==(const SearchSpace&) const = default;
};

constexpr std::size_t search_parameters_max = 128;
constexpr std::size_t search_values_max = 10000;

template <>
struct Spelling<ParameterType> {
    static constexpr std::array<std::string_view, 8> words{
        "constant",    "choice",          "uniform", "log_uniform",
        "int_uniform", "log_int_uniform", "normal",  "log_normal"};
};

/// Both fields of a search space; other fields are refused. Pure.
Decoded<SearchSpace> decode_search_space(const ParsedJson& parsed);
Decoded<SearchSpace> decode_search_space(const Json& json);
/// The normalised form: nested parameters under dotted paths, defaults filled in. Decodes to an
/// equal space.
Json encode(const SearchSpace& space);

}    // namespace slipway

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/spec/documents.h"
#include "api/spec/spelling.h"

namespace slipway {

// `algorithm` of a sweep as plain data. Bounds and documentation are in the field tables
// (search_algorithm_tables.cpp); what the algorithms do is in scheduler/search.

enum class SearchMethod { grid, random, sobol, tpe, asha, hyperband, median_stop, pbt };
enum class SamplerName { grid, random, sobol, tpe };
enum class AshaMode { stop, promote };
/// What time is counted in.
enum class TimeAttribute { epoch, step };

/// How points are chosen: `algorithm` itself when it is one of these, or `algorithm.sampler`.
struct SamplerSpec {
    SamplerName name = SamplerName::random;
    bool scramble = true;                ///< sobol
    std::int64_t startup_trials = 10;    ///< tpe: results before the model is used
    std::int64_t candidates = 64;        ///< tpe
    bool constant_liar = true;           ///< tpe: running trials count as bad ones
    bool operator==(const SamplerSpec&) const = default;
};

/// `algorithm`. Times are in epochs or steps, as time_attr says.
struct AlgorithmSpec {
    SearchMethod name = SearchMethod::random;
    bool scramble = true;
    std::int64_t startup_trials = 10;
    std::int64_t candidates = 64;
    bool constant_liar = true;
    AshaMode mode = AshaMode::stop;
    TimeAttribute time_attr = TimeAttribute::epoch;
    std::int64_t min_time = 1;
    std::int64_t max_time = 1;    ///< > min_time of asha and hyperband
    std::int64_t reduction_factor = 3;
    std::int64_t brackets = 1;
    std::int64_t grace_time = 1;     ///< median_stop
    std::int64_t min_samples = 3;    ///< median_stop
    std::int64_t population = 8;     ///< pbt
    std::int64_t interval = 1;       ///< pbt: length of a generation
    double quantile = 0.25;          ///< pbt: fraction that is replaced
    double resample_probability = 0.25;
    double perturbation = 1.2;
    std::optional<SamplerSpec> sampler;
    bool operator==(const AlgorithmSpec&) const = default;
};

/// The sampler that an algorithm uses: itself, its `sampler`, or random.
SamplerSpec sampler_of(const AlgorithmSpec& algorithm);

/// Pure. `json` is the object itself.
Decoded<AlgorithmSpec> decode_algorithm(const Json& json);
Json encode(const AlgorithmSpec& algorithm);

template <>
struct Spelling<SearchMethod> {
    static constexpr std::array<std::string_view, 8> words{
        "grid", "random", "sobol", "tpe", "asha", "hyperband", "median_stop", "pbt"};
};
template <>
struct Spelling<SamplerName> {
    static constexpr std::array<std::string_view, 4> words{"grid", "random", "sobol", "tpe"};
};
template <>
struct Spelling<AshaMode> {
    static constexpr std::array<std::string_view, 2> words{"stop", "promote"};
};
template <>
struct Spelling<TimeAttribute> {
    static constexpr std::array<std::string_view, 2> words{"epoch", "step"};
};

}    // namespace slipway

#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "executor/engine/engine.h"

namespace slipway {

/// Names as users see them, and what they came to; "loss" is the first.
using MetricValues = std::vector<std::pair<std::string, double>>;

/// errors  Error internal when there is none of this name
double value_of(const MetricValues& values, std::string_view name);
/// None when it was not measured: not every save follows an evaluation.
std::optional<double> value_in(const MetricValues& values, std::string_view name);
/// "loss" -> "val_loss".
MetricValues with_prefix(std::string_view prefix, const MetricValues& values);

/// What batches have added up so far. A batch's sums are f32, over all cores; over batches they
/// are double.
class MetricSums {
public:
    /// `outputs` are replicated f32 arrays, one per name and each time of the same shape.
    void add(std::span<const std::string> names, std::span<const Value> outputs);
    /// Keeps rows of every sample: f32 arrays, one for each core, or one.
    void append(std::span<const std::string> names, std::span<const Value> outputs);
    /// errors  Error internal when nothing of this name was added
    std::span<const double> of(std::string_view name) const;
    /// The rows of this name one behind the other; none when nothing was appended.
    std::span<const float> rows(std::string_view name) const;
    /// Of a sum that is one number.
    double scalar(std::string_view name) const;
    /// A sum of one number over the labels that were counted; 0 when none were.
    double mean(std::string_view name) const;

private:
    std::map<std::string, std::vector<double>, std::less<>> sums_;
    std::map<std::string, std::vector<float>, std::less<>> rows_;
};

}    // namespace slipway

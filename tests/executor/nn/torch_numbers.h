#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

#include "executor/nn/parameter.h"

/// The twins of the functions of reference/make_networks.py: weights and inputs that are made from
/// their names on both sides, and what is kept of torch's tensors.
namespace slipway {

std::vector<double> numbers(const std::string& name, std::int64_t count);
/// f32, in [-1, 1).
Array reals(const std::string& name, Dims dims);
/// i32, from `first` to below `end`.
Array integers(const std::string& name, Dims dims, std::int64_t first, std::int64_t end);
void set_weights(ParameterList& parameters);

/// Compares three sums of the values with torch's, relative to the sum of absolute values.
void expect_sums(const std::string& name, const Array& values, const nlohmann::json& expected,
                 double tolerance);

}    // namespace slipway

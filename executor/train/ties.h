#pragma once

#include <string>

#include "executor/train/model.h"

/// `model.tie`: pairs of names that are one parameter: one input, one gradient, one state of each
/// kind in the optimizer, stored once, under the name that the network has first.
namespace slipway {

/// Before the network is built: its parameters are tied as they are added.
void prepare_ties(ParameterList& parameters, const ModelSpec& spec);

/// After that: every pair has become one parameter.
/// errors  TrainError spec_error for a name that the network does not have (with the nearest one),
///         shapes that differ, a head that is to be replaced and is tied to what stays
void require_ties(const Model& model, const ModelSpec& spec);

/// "21840 parameters", with ties "21840 parameters, 640 tied (2.weight is 0.weight)": numbers that
/// are trained, and those among them that have two names. For the log.
std::string describe_count(const ParameterList& parameters);

}    // namespace slipway

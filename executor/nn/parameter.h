#pragma once

#include <string>
#include <vector>

#include "executor/graph/ops.h"

namespace slipway {

/// One trained tensor: its name in checkpoints, its leaf in graphs, its value between steps.
struct Parameter {
    std::string name;
    Tensor leaf;
    Array value;
};

/// A model's parameters in the order they were made: the order of leaves, slots and checkpoints.
class ParameterList {
public:
    /// Adds a parameter with its initial value; names are unique.
    Tensor add(const std::string& name, Array initial);

    std::vector<Parameter>& all() { return parameters_; }
    const std::vector<Parameter>& all() const { return parameters_; }
    std::vector<Tensor> leaves() const;
    std::int64_t element_count() const;

private:
    std::vector<Parameter> parameters_;
};

}    // namespace slipway

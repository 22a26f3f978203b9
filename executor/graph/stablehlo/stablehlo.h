#pragma once

#include <string>

#include "executor/graph/tensor.h"

namespace slipway {

/// The step as a StableHLO module in MLIR's generic form, for `cores` replicas: inputs are the
/// arguments of @main in their order, outputs its results. A composite is a stablehlo.composite
/// whose decomposition is a function of its own; stop_gradient is nothing; erf, which StableHLO
/// does not have, is a rational polynomial (f64: chlo.erf).
std::string print_stablehlo(const Graph& graph, int cores);

}    // namespace slipway

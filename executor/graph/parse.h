#pragma once

#include <string_view>

#include "executor/graph/tensor.h"

namespace slipway {

/// The graph whose text this is: print's other way round. Equal text gives an equal hash.
/// errors  invalid_argument that names the line
Graph parse_graph(std::string_view text);

}    // namespace slipway

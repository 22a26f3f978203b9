#pragma once

#include <string>
#include <vector>

#include "scheduler/search/search.h"

namespace slipway::sweeps {

/// How much of the differences between trials one parameter explains by itself.
struct Importance {
    std::string path;
    double explained = 0;    ///< 0 to 1
    int groups = 0;          ///< of values that were compared
};

/// Of all parameters that vary, the most important first. Trials without a finite value do not
/// count; fewer than 4 others: empty.
std::vector<Importance> importance_of(const search::Search& search);

}    // namespace slipway::sweeps

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "scheduler/search/search.h"
#include "scheduler/sweeps/keep_going.h"

namespace slipway::sweeps {

/// How much of the variance of the objective over the whole space one parameter explains.
struct Importance {
    std::string path;
    double explained = 0;    ///< by itself: 0 to 1
    double total = 0;        ///< with its pairs
};

/// What two parameters explain together, beyond what each of them does by itself.
struct PairImportance {
    std::string first;
    std::string second;
    double explained = 0;
};

struct Importances {
    std::vector<Importance> parameters = {};    ///< all that vary, the greatest total first
    std::vector<PairImportance> pairs = {};     ///< that explain 1 % or more, the greatest first
    std::size_t trials = 0;                     ///< that it was computed from
};

/// What of the trials is needed for it, so that a run need not be kept meanwhile.
struct ImportanceInputs {
    std::vector<std::string> paths = {};    ///< of the parameters that vary
    std::vector<double> units = {};         ///< trial by trial
    std::vector<bool> is_absent = {};       ///< likewise: the trial does not have the parameter
    std::vector<double> losses = {};        ///< by trial
    std::uint64_t seed = 0;
};
/// Of trials with a finite value; a sample of them where there are very many.
ImportanceInputs importance_inputs(const search::Search& search);

/// Functional analysis of variance (fANOVA; Hutter et al., 2014). The same inputs give the same
/// result. Fewer than 4 trials: empty. Takes about a second at most.
Importances importance_of(const ImportanceInputs& inputs, const KeepGoing& may_go_on = keep_going);

}    // namespace slipway::sweeps

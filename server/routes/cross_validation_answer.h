#pragma once

#include <vector>

#include "api/base/json.h"
#include "scheduler/store/cross_validations.h"

namespace slipway {

// Cross-validations as their JSON on the wire. Pure.

Json render(const store::CrossValidation& one);

/// {"items": […]}; `report` is that of the split, or null.
Json render_folds(const store::CrossValidation& of, const std::vector<store::StoredFold>& folds,
                  const Json& report);

Json render_summary(const store::CrossValidation& of, const std::vector<store::StoredFold>& folds);

/// Both are of the same split.
Json render_comparison(const store::CrossValidation& first,
                       const std::vector<store::StoredFold>& first_folds,
                       const store::CrossValidation& second,
                       const std::vector<store::StoredFold>& second_folds);

}    // namespace slipway

#pragma once

#include <optional>
#include <string>
#include <utility>

#include "scheduler/store/access.h"
#include "scheduler/store/datasets.h"
#include "scheduler/store/pg/shared_read.h"

namespace slipway::store {

/// What many requests ask for at the same time.
struct SharedReads {
    SharedRead<std::string, std::optional<Token>> tokens{};      ///< by lookup
    SharedRead<std::string, std::optional<Token>> sessions{};    ///< by the secret's hash
    /// By project and name or id.
    SharedRead<std::pair<std::string, std::string>, std::optional<Dataset>> datasets{};
};

}    // namespace slipway::store

#pragma once

#include <functional>

namespace slipway::sweeps {

/// Called now and then by work that may take long; throws when the result is not needed.
using KeepGoing = std::function<void()>;

/// Work that nothing ends early.
inline void keep_going() {}

}    // namespace slipway::sweeps

#pragma once

#include <functional>

namespace slipway::sweeps {

/// Called now and then by work that may take long; throws when nobody wants the result any longer.
using KeepGoing = std::function<void()>;

/// Work that nothing ends early.
inline void keep_going() {}

}    // namespace slipway::sweeps

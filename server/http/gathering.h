#pragma once

#include <functional>
#include <memory>

namespace slipway {

/// What the handlers of requests that are handled together leave to be done at once for all of
/// them. Used by one thread at a time.
class Gathering {
public:
    virtual ~Gathering() = default;
    /// Takes over what was left with another gathering of the same route, which lives on, since
    /// the answers of its requests may refer to it, and is not run.
    virtual void join(Gathering& other) = 0;
    /// Called once, when the last of the handlers has returned and before the answers are made
    /// (Response::rest). Does not throw: what fails is told by the answers.
    virtual void run() noexcept = 0;
};

/// Makes the gathering of the next requests of a route.
using MakeGathering = std::function<std::unique_ptr<Gathering>()>;

}    // namespace slipway

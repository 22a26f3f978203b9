#pragma once

#include <functional>
#include <optional>

#include "scheduler/search/constraint.h"
#include "scheduler/store/sweeps.h"
#include "server/routes/services.h"

namespace slipway::routes {

/// The sweep that the path's {id} names. errors  throws 404, also of a project that is not theirs
store::Sweep the_sweep(const Context& context);
/// The trial {tid} of a sweep. errors  throws 404
store::SweepTrial the_trial(const Context& context, const store::Sweep& sweep);

search::Point point_of(const store::SweepTrial& trial);

Json render_sweep(const store::Sweep& sweep);
Json render_trial(const store::SweepTrial& trial);

/// A sweep as an answer, with its ETag.
Response sweep_response(const store::Sweep& sweep, int status = 200);

/// How often a step is tried again that somebody else came before.
constexpr int step_tries_max = 10;

/// Changes the sweep by `change`, which gets it as it is and gives the step or none; again when
/// somebody else has changed it meanwhile. The sweep after it.
store::Sweep change_sweep(
    const Context& context,
    const std::function<std::optional<store::SweepStep>(const store::Sweep&)>& change);

}    // namespace slipway::routes

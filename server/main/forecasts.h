#pragma once

#include "scheduler/store/store.h"
#include "server/routes/services.h"

namespace slipway {

/// Has the routes ask the scheduler's planner: counts of decisions, estimates and simulations of
/// the queue. `store` and `clock` outlive the services.
void wire_forecasts(Services& services, store::Store& store, const Clock& clock);

}    // namespace slipway

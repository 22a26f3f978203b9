#pragma once

#include <string>
#include <variant>
#include <vector>

#include "api/base/json.h"
#include "scheduler/search/search.h"

namespace slipway::sweeps {

/// A limit of the sweep was reached, or its owner has lost the right to it: not of the search.
struct LimitEvent {
    std::string code;       ///< "target", "stall", "max_core_s", …
    std::string message;    ///< one sentence
};

/// Of a trial that runs elsewhere (scheduler/sweeps/leases.h).
struct LeaseEvent {
    std::int64_t trial = 0;
    double lease_s = 0;      ///< it was handed out, or its lease renewed; 0: without a lease
    bool is_free = false;    ///< no worker holds it
};

/// The sweep has another state: written by the store with the state, and nothing to the search.
struct StateEvent {};

using LogEvent = std::variant<search::SearchEvent, LimitEvent, LeaseEvent, StateEvent>;

/// A line of a sweep's log that a step adds: an event, and what it led to.
struct LoggedEvent {
    std::variant<search::SearchEvent, LimitEvent, LeaseEvent> event;
    std::vector<search::Decision> decisions = {};
    std::string detail = {};    ///< of an end: why the trial failed
};

/// {"type": "report", "trial": 3, "time": 1, "value": 0.28}; what is no finite number is null with
/// "nonfinite" beside it.
Json encode(const LoggedEvent& logged);
Json encode_decisions(const std::vector<search::Decision>& decisions);

/// The event of a stored line. errors  data_loss: it is none
LogEvent decode_event(const Json& json);

}    // namespace slipway::sweeps

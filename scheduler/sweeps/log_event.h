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

/// The sweep has another state: written by the store with the state, and nothing to the search.
struct StateEvent {};

using LogEvent = std::variant<search::SearchEvent, LimitEvent, StateEvent>;

/// A line of a sweep's log that a step adds: an event, and what it led to.
struct LoggedEvent {
    std::variant<search::SearchEvent, LimitEvent> event;
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

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "api/base/parsed_json.h"
#include "api/spec/sweep_spec.h"
#include "scheduler/store/stored_json.h"
#include "scheduler/sweeps/log_event.h"
#include "server/routes/bodies.h"
#include "server/routes/handlers.h"
#include "server/routes/problems.h"
#include "server/routes/sweep_answer.h"

namespace slipway::routes {
namespace {

using Change = std::optional<store::SweepStep>;

[[noreturn]] void refuse(const store::Sweep& sweep, std::string_view wanted) {
    throw Error{ErrorCode::conflict,
                fmt::format("the sweep is {}; it cannot be {}", to_string(sweep.state), wanted)};
}

store::SweepEvent line(const search::SearchEvent& event) {
    return {.event = encode(sweeps::LoggedEvent{.event = event}).dump()};
}

}    // namespace

Response pause_sweep(const Context& context) {
    return sweep_response(change_sweep(context, [](const store::Sweep& sweep) -> Change {
        if (sweep.state == SweepState::paused) return std::nullopt;
        if (sweep.state != SweepState::running) refuse(sweep, "paused");
        return store::SweepStep{.state = SweepState::paused,
                                .reason = store::Reason{"paused", "a user has paused it"}};
    }));
}

Response resume_sweep(const Context& context) {
    return sweep_response(change_sweep(context, [](const store::Sweep& sweep) -> Change {
        if (sweep.state == SweepState::running) return std::nullopt;
        if (sweep.state != SweepState::paused) refuse(sweep, "resumed");
        return store::SweepStep{.state = SweepState::running};
    }));
}

Response stop_sweep(const Context& context) {
    return sweep_response(change_sweep(context, [](const store::Sweep& sweep) -> Change {
        if (is_final(sweep.state) || sweep.state == SweepState::stopping) return std::nullopt;
        return store::SweepStep{
            .state = sweep.external ? SweepState::stopped : SweepState::stopping,
            .reason = store::Reason{"stopped", "a user has stopped it"}};
    }));
}

Response extend_sweep(const Context& context) {
    const SweepExtendBody body = read_body(context.request, decode_sweep_extend, "the extension");
    return sweep_response(change_sweep(context, [&](const store::Sweep& sweep) -> Change {
        if (sweep.state == SweepState::stopping) refuse(sweep, "extended until it has ended");
        if (body.max_trials <= sweep.max_trials)
            throw_problems({{"/max_trials", "out_of_bounds",
                             fmt::format("max_trials must be more than {}, which the sweep has, "
                                         "got {}",
                                         sweep.max_trials, body.max_trials)}},
                           "invalid_body", "the extension");
        store::SweepStep step{.events = {line(search::ExtendEvent{body.max_trials})},
                              .max_trials = int(body.max_trials)};
        if (is_final(sweep.state)) step.state = SweepState::running;
        return step;
    }));
}

}    // namespace slipway::routes

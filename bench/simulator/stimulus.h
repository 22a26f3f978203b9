#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "api/spec/spelling.h"
#include "bench/simulator/job_shape.h"

namespace slipway::simulator {

enum class Happening {
    submit,
    cancel,
    kill,
    pause,             ///< resumed after `lasts`
    drain,             ///< a core, for `lasts`
    join,              ///< a host that was not there
    service_crash,     ///< of a host: its agent and its server; executors live on
    service_freeze,    ///< SIGSTOP, SIGCONT
    machine_crash,     ///< all processes of a host
    machine_freeze,
    executor_crash,
    executor_freeze,
    network_cut,    ///< between a host and the database
    database_down,
    database_slow,
    answers_lost,    ///< calls are done, and the answer does not come
    notifications_lost,
    clock_jump    ///< of the database's clock
};

/// Something that happens to the service from outside, at a time that is drawn before the run.
struct Stimulus {
    std::chrono::milliseconds at{0};
    Happening what{};
    int who = 0;    ///< host, or job; what there is of them is counted modulo
    std::chrono::milliseconds lasts{0};
    int amount = 0;    ///< a core; seconds of a jump
    JobShape shape = {};
    int id = 0;    ///< of the scenario as it was drawn
};

/// A run before it begins.
struct Scenario {
    std::uint64_t seed = 0;
    std::vector<int> hosts;    ///< cores of each; the first has 8
    int hosts_at_begin = 1;
    std::chrono::milliseconds active{0};    ///< afterwards nothing goes wrong any longer
    std::vector<Stimulus> stimuli = {};     ///< by time
};

Scenario make_scenario(std::uint64_t seed);

/// One line: "at 12.3 s service_freeze of host 1 for 20 s".
std::string describe(const Stimulus& stimulus);

}    // namespace slipway::simulator

template <>
struct slipway::Spelling<slipway::simulator::Happening> {
    static constexpr std::array<std::string_view, 18> words{"submit",
                                                            "cancel",
                                                            "kill",
                                                            "pause",
                                                            "drain",
                                                            "join",
                                                            "service_crash",
                                                            "service_freeze",
                                                            "machine_crash",
                                                            "machine_freeze",
                                                            "executor_crash",
                                                            "executor_freeze",
                                                            "network_cut",
                                                            "database_down",
                                                            "database_slow",
                                                            "answers_lost",
                                                            "notifications_lost",
                                                            "clock_jump"};
};

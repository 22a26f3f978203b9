#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "scheduler/search/trial.h"

namespace slipway::search {

/// What a search decides. Enumerators are spelled as on the wire.
enum class Action {
    start,       ///< a new trial with `point`, trained to `until`
    resume,      ///< a paused trial from its checkpoint, trained to `until`
    keep,        ///< a trial was compared and goes on
    pause,       ///< a trial ends for now; its checkpoint is kept
    stop,        ///< a trial ends; nothing of it is needed any longer
    complete,    ///< a trial has done all that it was asked for
    exploit,     ///< a paused trial takes over `source`'s checkpoint of `source_time` and `point`
    retry,       ///< a trial that failed is tried again, from where it got to
    wait,        ///< nothing to do for whoever asks until something is reported
    finish       ///< the search is over
};

/// One decision with its reason: a line of the decision log. Absent numbers do not concern it.
struct Decision {
    Action action = Action::wait;
    std::string_view rule;       ///< "asha", "median_stop", … ; lives for ever
    std::int64_t trial = -1;     ///< of all but wait and finish
    std::int64_t until = 0;      ///< of start and resume; 0: as long as the job says
    std::int64_t bracket = 0;    ///< of start
    std::optional<std::int64_t> rung = {};
    std::optional<std::int64_t> time = {};
    std::optional<double> value = {};         ///< of the trial there; may be NaN
    std::optional<std::int64_t> rank = {};    ///< 1: the best
    std::optional<std::int64_t> of = {};
    std::optional<double> cutoff = {};          ///< the worst value that would have gone on
    std::optional<std::int64_t> source = {};    ///< the trial whose weights or folds it is about
    std::optional<std::int64_t> source_time = {};
    std::optional<double> probability = {};    ///< that it becomes better than `source`
    std::vector<double> unit = {};             ///< of start and exploit
    Point point = {};
    std::string reason;    ///< one sentence
};

/// As a line of the log: absent fields are left out, what is no finite number is null.
Json encode(const Decision& decision);

}    // namespace slipway::search

namespace slipway {
template <>
struct Spelling<search::Action> {
    static constexpr std::array<std::string_view, 10> words{"start", "resume",   "keep",    "pause",
                                                            "stop",  "complete", "exploit", "retry",
                                                            "wait",  "finish"};
};
}    // namespace slipway

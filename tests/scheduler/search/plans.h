#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "scheduler/search/search.h"
#include "tests/scheduler/search/spaces.h"

namespace slipway::search {

constexpr const char* one_number = R"({"space": {"x": {"type": "uniform", "min": 0, "max": 1}}})";

/// A plan of the algorithm that a text describes.
inline SearchPlan plan_of(std::string_view algorithm, std::int64_t max_trials) {
    const auto decoded = decode_algorithm(Json::parse(algorithm));
    EXPECT_EQ(joined_messages(decoded.problems), "");
    SearchPlan plan;
    plan.algorithm = decoded.value;
    plan.max_trials = max_trials;
    plan.seed = 1;
    return plan;
}

/// The answer to an AskEvent.
inline Decision asked(Search& search) {
    return search.on(AskEvent{}).back();
}

/// "stop 3" for a decision to stop trial 3; several are joined by ", ".
inline std::string brief(const std::vector<Decision>& decisions) {
    std::string text;
    for (const Decision& one : decisions) {
        text += (text.empty() ? "" : ", ") + std::string(to_string(one.action));
        if (one.trial >= 0) text += " " + std::to_string(one.trial);
        if (one.action == Action::start || one.action == Action::resume)
            text += " to " + std::to_string(one.until);
    }
    return text;
}

inline std::string told(Search& search, std::int64_t trial, std::int64_t time, double value) {
    return brief(search.on(ReportEvent{trial, time, value}));
}

inline std::string log_of(const std::vector<Decision>& decisions) {
    std::string text;
    for (const Decision& one : decisions)
        text += encode(one).dump() + "\n";
    return text;
}

}    // namespace slipway::search

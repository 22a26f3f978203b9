#pragma once

#include <algorithm>
#include <array>

#include "api/base/check.h"

namespace slipway {

// Which versions work together: docs/operating.md#mixed-versions. Server and agent meet the schema
// of the database, which is all that they share; an executor meets the order of its agent.

enum class Program { server, agent, executor };

/// Of what the program meets, compared with the program. Different ones count as newer.
enum class Age { older, same, newer };

enum class Answer { serve, upgrade, refuse };

struct Meeting {
    Program program;
    Age age;
    Answer answer;
    bool operator==(const Meeting&) const = default;
};

inline constexpr auto meetings = std::to_array<Meeting>({
    {Program::server, Age::older, Answer::upgrade},
    {Program::server, Age::same, Answer::serve},
    {Program::server, Age::newer, Answer::refuse},
    // An agent changes no schema: it would break the server that runs.
    {Program::agent, Age::older, Answer::refuse},
    {Program::agent, Age::same, Answer::serve},
    {Program::agent, Age::newer, Answer::refuse},
    // The job returns to the queue and waits for a host that can read it (reason wrong_build).
    {Program::executor, Age::older, Answer::refuse},
    {Program::executor, Age::same, Answer::serve},
    {Program::executor, Age::newer, Answer::refuse},
});

inline Answer answer_of(Program program, Age age) {
    const auto found = std::ranges::find_if(meetings, [&](const Meeting& meeting) {
        return meeting.program == program && meeting.age == age;
    });
    check(found != meetings.end(), "every meeting is in the table");
    return found->answer;
}

inline Age age_of(int met, int own) {
    return met < own ? Age::older : met > own ? Age::newer : Age::same;
}

}    // namespace slipway

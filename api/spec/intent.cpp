#include "api/spec/intent.h"

#include <algorithm>

namespace slipway {

namespace {

using enum JobState;

constexpr std::array<IntentMeaning, 5> intent_rows{{
    {Intent::cancel, cancelling, cancelled, true},
    {Intent::kill, cancelling, cancelled, false},
    {Intent::pause, pausing, paused, true},
    {Intent::preempt, preempting, std::nullopt, true},
    {Intent::timeout, std::nullopt, std::nullopt, true},
}};

/// Who may run again gives way to what ends the job, and that to what ends it at once.
int sharpness(Intent intent) {
    if (!meaning_of(intent).saves) return 2;
    return intent == Intent::pause || intent == Intent::preempt ? 0 : 1;
}

}    // namespace

const IntentMeaning& meaning_of(Intent intent) noexcept {
    return intent_rows[std::size_t(intent)];
}

std::optional<Intent> default_intent(JobState state) noexcept {
    const auto found = std::ranges::find(intent_rows, std::optional(state), &IntentMeaning::asked);
    if (found == intent_rows.end()) return std::nullopt;
    return found->intent;
}

bool is_sharper(Intent next, Intent present) noexcept {
    return sharpness(next) > sharpness(present);
}

}    // namespace slipway

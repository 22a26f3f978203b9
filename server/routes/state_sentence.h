#pragma once

#include <string>
#include <string_view>

namespace slipway {

/// "the job is running", "the job has succeeded", "the job was cancelled": `what` in a state of a
/// job, a cross-validation or a sweep.
std::string state_sentence(std::string_view what, std::string_view state);

/// "the job has succeeded and cannot become cancelled".
std::string illegal_transition_sentence(std::string_view what, std::string_view from,
                                        std::string_view to);

}    // namespace slipway

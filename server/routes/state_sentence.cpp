#include "server/routes/state_sentence.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace slipway {
namespace {

// Words of ends; a state that is not here is one that something is in.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> verbs{{
    {"succeeded", "has"},
    {"failed", "has"},
    {"finished", "has"},
    {"cancelled", "was"},
}};

}    // namespace

std::string state_sentence(std::string_view what, std::string_view state) {
    const auto* found = std::ranges::find(verbs, state, &decltype(verbs)::value_type::first);
    return fmt::format("{} {} {}", what, found == verbs.end() ? "is" : found->second, state);
}

std::string illegal_transition_sentence(std::string_view what, std::string_view from,
                                        std::string_view to) {
    return fmt::format("{} and cannot become {}", state_sentence(what, from), to);
}

}    // namespace slipway

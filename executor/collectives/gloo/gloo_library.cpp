// What slipway-collectives.so exports.
#include <memory>
#include <type_traits>

#include "executor/collectives/gloo/gloo_member.h"

extern "C" void slipway_join(const slipway::MemberOrder& order,
                             std::unique_ptr<slipway::Member>& member) {
    member = std::make_unique<slipway::GlooMember>(order);
}

static_assert(std::is_same_v<decltype(&slipway_join), slipway::JoinEntry>);

#pragma once

namespace slipway {

/// Of everything in this folder. An executor refuses the order of another version by name; a
/// change that the other side would misread counts it up.
inline constexpr int protocol_version = 5;

}    // namespace slipway

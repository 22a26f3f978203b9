#pragma once

/// The Unix socket at which an executor listens for its agent. A confined executor may make no
/// socket: the process that confines it makes this one, and the executor inherits the descriptor.
namespace slipway {

inline constexpr const char* executor_socket_name = "executor.sock";
/// Environment variable: the descriptor of the socket that a process has inherited.
inline constexpr const char* executor_socket_variable = "SLIPWAY_EXECUTOR_SOCKET";

}    // namespace slipway

#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway {

/// How the program of an order speaks with a service on another machine: see NodeRelay.
struct StartLink {
    std::string identity;
    std::string secret;
    std::filesystem::path announcement;    ///< of the service
    bool operator==(const StartLink&) const = default;
};

/// What slipway-slurm-start, on the node that Slurm chose, is to become. It is in a file of mode
/// 0600: a script and its arguments can be read by others of the cluster.
struct StartOrder {
    std::filesystem::path program;
    std::vector<std::string> arguments;      ///< without the program's name
    std::vector<std::string> environment;    ///< NAME=value; nothing else is passed on
    std::filesystem::path folder;            ///< its working folder
    std::filesystem::path output;            ///< gets stderr, and stdout unless `result` is given
    std::filesystem::path result = {};       ///< gets stdout; or empty
    std::filesystem::path lock = {};         ///< locked as its descriptor 3; or empty
    int members = 1;                         ///< of its slice, of which it is one
    std::optional<StartLink> link = {};      ///< none: the service is on this machine
    bool operator==(const StartOrder&) const = default;
};

/// The exit code of slipway-slurm-start on a node that cannot read its order: the home folder of
/// the service is not there.
inline constexpr int exit_no_order = 125;
/// Likewise, when it could not become the program; a shell's when there is no slipway-slurm-start.
inline constexpr int exit_not_started = 127;

inline constexpr const char* begun_ending = ".begun";
/// The file beside the order of a job of one program that says on which node the order was read.
std::filesystem::path begun_file(std::filesystem::path order);

std::string to_text(const StartOrder& order);

/// None when it is not the text of one.
std::optional<StartOrder> read_start_order(std::string_view text);

}    // namespace slipway

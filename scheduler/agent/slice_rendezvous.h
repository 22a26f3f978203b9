#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

// How members of a slice on different hosts find each other: each leaves a file, named after its
// rank, in a folder of its run folder; agents bring the files of the others there. The executor
// owns the folder and may have put anything in its place: nothing here follows a link.
namespace slipway {

inline constexpr std::string_view rendezvous_folder = "rendezvous";    // in a run folder
inline constexpr std::size_t rendezvous_bytes_max = 65536;

/// What the member of this rank offers to the others; none: nothing yet, or nothing that is a
/// regular file of at most rendezvous_bytes_max bytes.
std::optional<std::string> read_offer(const std::filesystem::path& run_folder, int rank);

/// Puts what the member of another rank offers, whole or not at all.
/// errors  throws exhausted when the folder is gone or does not take it
void bring_offer(const std::filesystem::path& run_folder, int rank, std::string_view bytes);

}    // namespace slipway

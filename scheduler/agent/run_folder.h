#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "api/base/json.h"
#include "api/base/posix.h"
#include "api/protocol/attempt_order.h"
#include "scheduler/launcher/private_folder.h"
#include "scheduler/store/attempts.h"

namespace slipway {

/// Makes the folder (mode 0700) when absent.
/// errors  throws exhausted, unavailable
void make_run_folder(const std::filesystem::path& folder);

/// The folder's lock, which its executor inherits and holds while it lives; none when somebody
/// lives there. The executor can write the folder: whether it lives is for ProcessRecords to say.
/// errors  throws unavailable, also when `lock` is no regular file
std::optional<UniqueFd> lock_run_folder(const std::filesystem::path& folder);

/// Files of a run folder that may be there, empty, before anybody needs them.
inline constexpr std::array<const char*, 3> run_folder_files{"lock", "frames.ndjson",
                                                             "attempt.json.new"};

/// Whether an executor has said anything here.
bool has_frames(const std::filesystem::path& folder);

/// Writes attempt.json.
/// errors  throws exhausted, unavailable
void write_order(const std::filesystem::path& folder, const std::string& text);

/// Where data, checkpoints and reports of an attempt are, for attempt.json.
struct AttemptPaths {
    std::filesystem::path dataset;
    std::filesystem::path checkpoints;     ///< of the job
    std::filesystem::path resume = {};     ///< a checkpoint to go on from; empty: none
    std::filesystem::path report = {};     ///< of the job: where its time goes
    std::filesystem::path cache = {};      ///< of compiled code, of the project's jobs
    std::filesystem::path packed = {};     ///< of packed images, of the project's jobs
    std::filesystem::path decoded = {};    ///< of copies of the dataset; empty: none
    std::int64_t decoded_bytes_max = 0;    ///< of one copy
    std::filesystem::path init = {};       ///< weights to begin with; empty: none
    std::filesystem::path network = {};    ///< to import; empty: none
    std::vector<std::filesystem::path> payload_checkpoints = {};    ///< that it names
    std::filesystem::path split = {};    ///< the manifest of a stored split; empty: none
    std::string split_hash = {};         ///< that it must have
    int worker_threads = 0;              ///< 0: as many as CPUs
    double grace_s = 60;
    std::int64_t memory_bytes = 0;             ///< that the program may plan; 0: no limit
    std::optional<MemberOrder> member = {};    ///< of an attempt on several hosts
};

/// The content of attempt.json.
AttemptOrder attempt_order(const store::HostAttempt& attempt, const AttemptPaths& paths);

/// What a file has that another process wrote, an executor for one; none without it, when it is no
/// regular file (a FIFO would hold the reader for ever) and when it has more than `bytes_max`
/// bytes.
std::optional<std::string> read_at_most(const std::filesystem::path& file, std::size_t bytes_max);

/// The end of a text file, at most `bytes_max` bytes of whole lines; empty without file.
std::string read_tail(const std::filesystem::path& file, std::size_t bytes_max);

}    // namespace slipway

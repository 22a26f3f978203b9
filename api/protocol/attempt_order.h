#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "api/base/json.h"
#include "api/protocol/version.h"
#include "api/spec/job_kind.h"

namespace slipway {

/// The dataset of an attempt, as this host has it.
struct DatasetOrder {
    std::string id;
    std::string name;
    std::string format;               ///< a word of DatasetFormat
    std::string path;                 ///< absolute: a folder or file
    Json options = Json::object();    ///< DatasetOptionsSpec, normalised
    std::string content_hash = {};    ///< "sha256:…"; empty: not known
};

/// The manifest of a stored split.
struct StoredSplitOrder {
    std::string path;    ///< absolute
    std::string hash;    ///< that it must have
};

/// What a process of an attempt on several hosts (a slice) is among the members of the attempt.
/// Each member runs as many replicas as the others: those of rank r are r*n..r*n+n-1.
struct MemberOrder {
    int rank = 0;                      ///< 0..hosts.size()-1; rank 0 reports and saves for all
    std::vector<std::string> hosts;    ///< names, by rank: what errors call the members
    /// Before they are connected, members exchange one file each: this one makes the file that is
    /// named after its rank, and waits until the files of all others are there. Agents, or a shared
    /// folder, bring them.
    std::string rendezvous_folder;
    std::string secret;          ///< of the attempt: who does not know it is refused
    std::string bind_address;    ///< the address of this host that the others connect to
    double timeout_s = 60;       ///< that a member waits for the others, at the most
    /// The descriptor of memory that all members of this machine have inherited (slice_memory.h);
    /// -1: none. Not in attempt.json: whoever starts the process gives it.
    int shared_memory = -1;
};

/// One attempt, everything resolved to paths of this host: the content of attempt.json, which the
/// agent writes and the executor reads.
struct AttemptOrder {
    int version = protocol_version;
    std::string job_id;
    int attempt = 1;
    std::string fence;    ///< what an agent must send to be listened to
    JobKind kind = JobKind::train;
    Json spec;                 ///< JobSpec, normalised: what runs
    Json payload = nullptr;    ///< what its kind asks for beside the spec; null: nothing
    DatasetOrder dataset;
    std::string checkpoint_folder;                   ///< of the job
    std::optional<std::string> resume_from = {};     ///< the folder of a checkpoint
    std::optional<std::string> init_from = {};       ///< such a folder, or a safetensors file
    std::optional<std::string> network_from = {};    ///< a network of torch.export (.pt2)
    std::vector<std::string> checkpoints = {};       ///< such folders: what the payload names
    std::optional<StoredSplitOrder> split = {};
    std::optional<MemberOrder> member = {};    ///< none: the attempt is this process alone
    std::int64_t saves_requested = 0;    ///< before it began: those ask nothing of this attempt
    int worker_threads = 0;              ///< 0: as many as CPUs
    double grace_s = 60;                 ///< without a sign of an agent: save and end
    std::int64_t memory_bytes = 0;       ///< that the program may plan; 0: no limit
    std::string report_folder = {};
    std::string cache_folder = {};         ///< of compiled code; empty: none
    std::string packed_folder = {};        ///< of packed images; empty: none
    std::string decoded_folder = {};       ///< of copies of the decoded dataset; empty: none
    std::int64_t decoded_bytes_max = 0;    ///< of one copy
    std::string traceparent = {};          ///< of the request that submitted the job; empty: none
};

/// Of attempt.json.
inline constexpr std::size_t attempt_order_bytes_max = std::size_t{4} << 20;

Json to_json(const AttemptOrder& order);

/// errors  throws invalid_argument naming the field that is missing or of another type, or both
///         versions when the order is of another one
AttemptOrder read_attempt_order(const Json& json);

}    // namespace slipway

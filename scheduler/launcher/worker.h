#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/base/posix.h"
#include "api/protocol/worker_messages.h"
#include "scheduler/launcher/exchange_folders.h"
#include "scheduler/launcher/launcher.h"

namespace slipway {

/// What two runs must have in common for one process to run both: all that confines it, and the
/// program itself.
struct WorkerKey {
    std::vector<std::string> parts;
    bool operator==(const WorkerKey&) const = default;
};

/// Names the program by its file, not by its path: another build in its place is another program.
WorkerKey key_of(const LaunchRequest& request);

/// A process that stays: the launcher's end of it. What it may write are folders of its own, which
/// are lent to one run after the other (exchange_folders.h).
class Worker {
public:
    struct Sockets {
        UniqueFd ours;
        UniqueFd theirs;    ///< kept open, so that only the process's end says that it has ended
    };

    /// A process that was started with the rights of `first`, and `folder` with an empty folder for
    /// each of those that are the run's own: "0", "1", …
    Worker(WorkerKey key, std::filesystem::path folder, const StayRequest& first,
           std::unique_ptr<LaunchedProcess> process, Sockets sockets);

    const WorkerKey& key() const { return key_; }
    LaunchedProcess& process() { return *process_; }
    const std::filesystem::path& folder() const { return folder_; }

    /// Hands it the run that it was started for.
    /// errors  throws unavailable: the worker must be ended
    void begin(const StayRequest& run, int lock_fd);
    /// Hands it another run: the folders that it may write are taken from the last one, and stand
    /// where those of this one are, or would be: only the folders that hold them must be there.
    /// errors  as begin()
    void give(const StayRequest& run, int lock_fd);
    /// Takes the folders from the last run, whose own stand there again: none where there was none
    /// and nothing was written.
    /// errors  as begin(), also when another attempt of the last run has its folders by now
    void take_folders_back();
    /// Whether the last run's folders, which it still has, hold `path`.
    bool has_lent(const std::filesystem::path& path) const;
    /// What it said of the run that it was given; none when it has said nothing.
    std::optional<WorkerAnswer> take_answer();
    bool has_ended() const;

    /// Readable when there is an answer, or the process has ended.
    int event_fd() const { return events_.get(); }

    /// Whether it does nothing: said beside it, for a service that comes after this one.
    void set_idle(bool idle, Tick now);
    Tick idle_since() const { return idle_since_; }

private:
    /// A folder that it may write, and where it stands.
    struct LentFolder {
        std::filesystem::path path;
        FolderId id;
        bool is_run_folder = false;
        bool stands_alone = false;    ///< no folder stood there, and none waits in its place
    };

    void lend(const StayRequest& run, const std::filesystem::path& target);
    void take_back(const LentFolder& lent, const std::filesystem::path& place) const;

    const WorkerKey key_;
    const std::filesystem::path folder_;
    const std::unique_ptr<LaunchedProcess> process_;
    const Sockets sockets_;
    const UniqueFd events_;           // an epoll of the socket and the process
    std::vector<LentFolder> lent_;    // by their numbers
    Tick idle_since_{};
};

/// The name of what worker_folder() of a worker has while it does nothing.
inline constexpr const char* worker_idle_file = "idle";
/// The process of a worker, and what its id is of: JSON, in its folder.
inline constexpr const char* worker_record_file = "process.json";

}    // namespace slipway

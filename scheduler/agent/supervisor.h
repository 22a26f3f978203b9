#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "scheduler/agent/attempt_watch.h"
#include "scheduler/launcher/launcher.h"

namespace slipway {

/// How a process ended for its memory.
struct MemoryEnd {
    std::int64_t limit_bytes = 0;
    std::int64_t used_bytes = 0;    ///< when last read; 0: not known
    bool machine = false;           ///< the machine's memory was used up, not what it may use
};

/// A process to look after.
struct Watched {
    std::string name;    ///< unique among those watched: "job_…/2", "ds_…"
    std::unique_ptr<LaunchedProcess> process;
    WatchLimits limits;
    std::filesystem::path
        folder;    ///< with executor.sock; empty: it has no socket and says nothing
    std::string fence;
    std::int64_t frames_after = 0;
    std::int64_t memory_bytes = 0;    ///< that it may use; 0: no limit
};

/// A process that has ended, with everything it started.
struct Ended {
    std::string name;
    std::optional<ProcessExit> exit;    ///< none when it is not known
    EndCause cause = EndCause::none;
    std::optional<MemoryEnd> memory = {};
    EndNote note = {};
};

inline std::optional<int> exit_status_of(const Ended& ended) {
    return ended.exit ? std::optional(ended.exit->status) : std::nullopt;
}

/// What happened since the last call.
struct SupervisorEvents {
    std::vector<std::string> speaking;    ///< their frames.ndjson has grown
    std::vector<std::string> stepped;     ///< the values of their first step are in it
    std::vector<Ended> ended;
    std::int64_t unresponsive = 0;    ///< killed for silence, since the last call
};

/// Watches processes: heartbeats and requests over their sockets, the stop ladder, their memory,
/// their exits, and that nothing of their sessions is left. One thread, which waits for nothing but
/// them: no database. The calls are safe from every thread and return at once.
class Supervisor {
public:
    /// `on_events` is called from the supervisor's thread when take_events() has something. `clock`
    /// outlives us.
    Supervisor(std::chrono::milliseconds heartbeat_every, std::function<void()> on_events,
               const Clock& clock);
    /// Joins the thread; the processes live on.
    ~Supervisor();
    Supervisor(const Supervisor&) = delete;
    Supervisor& operator=(const Supervisor&) = delete;

    void watch(Watched watched);
    /// Nothing happens for a name that is no longer watched.
    void stop(const std::string& name, Intent intent);
    /// Asks for a checkpoint: see save_line.
    void save(const std::string& name, std::int64_t number);
    void kill(const std::string& name, EndCause cause);
    void done_received(const std::string& name);

    SupervisorEvents take_events();
    std::int64_t watched_count() const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}    // namespace slipway

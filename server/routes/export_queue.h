#pragma once

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>

#include "api/base/clock.h"
#include "server/http/files.h"

namespace slipway {

/// Weights of a checkpoint for other frameworks.
struct WeightsExport {
    std::string project;                 ///< whose checkpoint it is
    std::filesystem::path checkpoint;    ///< its folder
    std::string dtype;                   ///< "f32", "bf16"
    std::string weights;                 ///< "average", "raw"
};

struct ExportLimits {
    std::size_t of_token = 2;    ///< that wait or are being made; above: 429
    std::size_t in_all = 32;     ///< also those that are made and not taken yet; above: 503
    std::chrono::milliseconds forget_after{10'000};    ///< since somebody last asked
};

/// Makes the exports that requests ask for on a thread of its own, one at a time, as each takes the
/// memory of a whole checkpoint: no worker of the server waits for one. Requests for the same
/// export share it. One that nobody asks for any more is not begun. Safe from every thread.
class ExportQueue {
public:
    /// Writes the file; throws Error when it cannot be made; ends soon when `stop` turns true.
    using Make = std::function<void(const WeightsExport&, const std::filesystem::path& file,
                                    const std::atomic<bool>& stop)>;

    /// `folder` must be there; nothing stays in it. `clock` outlives this.
    ExportQueue(std::filesystem::path folder, Make make, const Clock& clock,
                ExportLimits limits = {});
    ~ExportQueue();
    ExportQueue(const ExportQueue&) = delete;
    ExportQueue& operator=(const ExportQueue&) = delete;

    /// The file; nothing while it is not made yet: ask again within `forget_after`.
    /// token   whose limit it counts for
    /// errors  throws exhausted above the token's limit, unavailable above that of all and when the
    ///         export failed
    std::optional<OpenedFile> ask(const WeightsExport& wanted, const std::string& token);

private:
    using Key = std::tuple<std::string, std::string, std::string>;    // checkpoint, dtype, weights
    enum class State { waiting, being_made, made, failed };
    struct Entry {
        WeightsExport wanted;
        std::string token;    // of the first who asked
        std::uint64_t number = 0;
        State state = State::waiting;
        Tick asked_at{};
        OpenedFile file{};
        std::string failure{};
    };

    void add(const Key& key, const WeightsExport& wanted, const std::string& token);
    void forget_old();
    void work();
    void make_one(std::unique_lock<std::mutex>& lock, const Key& key);
    std::optional<Key> next() const;

    const std::filesystem::path folder_;
    const Make make_;
    const Clock& clock_;
    const ExportLimits limits_;
    std::atomic<bool> stop_{false};
    std::mutex mutex_;
    std::condition_variable changed_;
    // guarded by mutex_
    std::map<Key, Entry> entries_;
    std::uint64_t numbers_ = 0;
    std::thread thread_;
};

}    // namespace slipway

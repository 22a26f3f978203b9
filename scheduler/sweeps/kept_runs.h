#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "scheduler/sweeps/keep_going.h"
#include "scheduler/sweeps/sweep_run.h"

namespace slipway::sweeps {

/// The runs of sweeps that requests ask about, kept from one request to the next: a question then
/// costs what is new in the log and not the whole log. What is kept of a sweep whose trials are
/// jobs does not know these jobs. Safe from every thread.
class KeptRuns {
public:
    struct Options {
        /// The memory of all kept runs.
        std::int64_t bytes_max = std::int64_t{128} << 20;
        /// How many logs are read at a time.
        int loads_max = 2;
        /// How long a request waits for a run that another request holds, and to read a log.
        std::chrono::milliseconds patience{1000};
    };

    KeptRuns() : KeptRuns(Options{}) {}
    explicit KeptRuns(Options options) : options_(options) {}

    /// A run while it is worked on. What was done to it is forgotten unless it is kept.
    class Lent {
    public:
        Lent(KeptRuns& runs, SweepRun run);
        ~Lent();
        Lent(const Lent&) = delete;
        Lent& operator=(const Lent&) = delete;

        SweepRun& run() { return run_; }
        /// What was done is stored, and the sweep is this now.
        void keep(store::Sweep stored);

    private:
        KeptRuns& runs_;
        const std::string id_;
        SweepRun run_;
        bool is_kept_ = false;
    };

    /// The run of the sweep, which was just read, or of what is stored since. Nobody else works on
    /// it meanwhile.
    /// errors  as load_run; throws not_found: it was deleted; exhausted: others take longer than
    ///         the patience
    Lent borrow(store::Store& store, store::Sweep sweep, const KeepGoing& may_go_on = keep_going);

    /// Of those that are kept and that nobody works on.
    std::int64_t kept_bytes() const;

private:
    /// What the points of the first trials take; they do not change, so they are counted once.
    struct PointBytes {
        std::size_t trials = 0;
        std::int64_t bytes = 0;
    };
    struct Place {
        std::optional<SweepRun> run{};
        std::int64_t bytes = 0;
        PointBytes points{};
        std::uint64_t used = 0;    // greater: later
        bool is_lent = false;
    };

    /// The run that was kept in the sweep's place, which is the caller's now.
    std::optional<SweepRun> take_place(const std::string& sweep_id);
    SweepRun load(store::Store& store, store::Sweep sweep, const KeepGoing& may_go_on);
    static std::int64_t bytes_of(const SweepRun& run, PointBytes& points);
    void give_back(const std::string& sweep_id, std::optional<SweepRun> run);
    void make_room();

    const Options options_;
    mutable std::mutex mutex_;
    std::condition_variable given_back_;
    std::map<std::string, Place> places_;
    std::int64_t bytes_ = 0;
    std::uint64_t uses_ = 0;
    int loading_ = 0;
};

}    // namespace slipway::sweeps

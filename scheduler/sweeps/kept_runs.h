#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "scheduler/sweeps/sweep_run.h"

namespace slipway::sweeps {

/// The runs of sweeps whose trials run elsewhere, kept from one request to the next: a question
/// then costs what is new in the log and not the whole log. Safe from every thread.
class KeptRuns {
public:
    struct Options {
        /// Of all kept runs: a trial, a parameter of a trial and a report of one count one each,
        /// and so do ten bytes of a spec. About 130 bytes of memory each.
        std::int64_t values_max = 1'000'000;
        /// How long somebody waits for the run that somebody else works on, before reading it.
        std::chrono::milliseconds patience{1000};
    };

    KeptRuns() : KeptRuns(Options{}) {}
    explicit KeptRuns(Options options) : options_(options) {}

    /// A run while it is worked on. What was done to it is forgotten unless it is kept.
    class Lent {
    public:
        Lent(KeptRuns& runs, SweepRun run, bool has_place);
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
        const bool has_place_;
        bool is_kept_ = false;
    };

    /// The run of the sweep, which was just read, or of what is stored since. Nobody else works on
    /// it meanwhile, unless somebody takes longer than the patience.
    /// errors  as load_run; throws not_found: it was deleted
    Lent borrow(store::Store& store, store::Sweep sweep);

    /// Of those that are kept and that nobody works on.
    std::int64_t kept_values() const;

private:
    struct Place {
        std::optional<SweepRun> run{};
        std::int64_t values = 0;
        std::uint64_t used = 0;    // greater: later
        bool is_lent = false;
    };

    /// Whether the caller has the sweep's place now; then `run` is what was kept there.
    bool take_place(const std::string& sweep_id, std::optional<SweepRun>& run);
    void give_back(const std::string& sweep_id, std::optional<SweepRun> run);
    void make_room();

    const Options options_;
    mutable std::mutex mutex_;
    std::condition_variable given_back_;
    std::map<std::string, Place> places_;
    std::int64_t values_ = 0;
    std::uint64_t uses_ = 0;
};

}    // namespace slipway::sweeps

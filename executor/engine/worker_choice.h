#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace slipway {

/// How long one run of a program took.
struct TimedRun {
    double seconds = 0;
    double working_s = 0;    ///< of all workers together, without waiting for each other
};

/// Chooses with how many workers a program is run, since results do not depend on it: short steps
/// may take twice as long with two as with one, where two CPUs take long to see what the other one
/// wrote. Pure: it is told what runs took, and says how many workers the next one has.
///
/// It starts with all workers that were granted. Where waiting takes so much that fewer may be as
/// fast, both are run in turns, and the faster stays. When the pace has changed, and now and then,
/// it compares again, upwards as well. A comparison begins only when the runs have taken as long as
/// it costs to make the other program, and takes at most a fiftieth of the time.
class WorkerChoice {
public:
    explicit WorkerChoice(int granted) : granted_(granted), workers_(granted) {}

    int granted() const { return granted_; }
    /// Of the next run.
    int workers() const { return is_comparing_ && runs_other_ ? other_ : workers_; }
    /// Not being compared.
    int chosen() const { return workers_; }
    /// Nothing else will be tried until the pace changes or time has passed.
    bool is_settled() const { return granted_ == 1 || (!is_comparing_ && settled_pace_s_ > 0); }

    /// A run with workers() has ended.
    void ran(const TimedRun& run);
    /// How long it takes to make one more program.
    void made_program(double seconds) { making_s_ = seconds; }
    /// No program fits into memory with this number of workers, or fewer.
    void cannot_run(int workers);
    /// The system refuses threads for so many: one runs from now on.
    void cannot_start(int workers);
    /// The runs that follow are those of another program.
    void restart();

    /// How often the answer of chosen() or why() has changed.
    int changes() const { return changes_; }
    /// "1 of 2 worker threads: a step takes 0.31 ms with 1 and 0.54 ms with 2"; empty: nothing was
    /// compared.
    const std::string& why() const { return why_; }

private:
    void watch(const TimedRun& run);
    void consider(double pace_s, double working_s);
    bool may_compare(double pace_s) const;
    /// 0: none would be as fast.
    int fewer_to_try(double pace_s, double working_s) const;
    void settle(double pace_s);
    void begin_comparison(int other, double pace_s);
    void compare(const TimedRun& run);
    void end_comparison();

    // Constant after construction.
    const int granted_;
    // Not so many that their threads could not be started.
    int most_possible_ = granted_;
    int workers_;
    int least_possible_ = 1;
    double making_s_ = 0;
    int changes_ = 0;
    std::string why_;
    // Watching.
    std::vector<TimedRun> window_;
    int to_skip_ = 2;              ///< runs that find caches cold
    double rested_s_ = 0;          ///< of runs since the last comparison
    double settled_pace_s_ = 0;    ///< 0: not yet
    bool looks_up_ = false;        ///< the next comparison is with more workers, if there are
    int slower_ = 0;               ///< so many, and fewer, were slower when they were tried last
    double comparison_s_ = 0;      ///< what the last one took
    // Comparing.
    bool is_comparing_ = false, runs_other_ = false;
    int other_ = 0, turns_left_ = 0, runs_a_turn_ = 0, left_of_turn_ = 0;
    std::vector<double> times_, times_of_other_;
};

}    // namespace slipway

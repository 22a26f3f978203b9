#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "api/base/clock.h"
#include "api/base/posix.h"
#include "scheduler/launcher/slurm/batch.h"
#include "scheduler/launcher/slurm/job_line.h"

namespace slipway {

struct SlurmQueueOptions {
    BatchOptions batch;
    std::chrono::milliseconds look_every{500};
    std::chrono::milliseconds command_max{4000};    ///< of one command of Slurm
    std::chrono::milliseconds pause{3000};          ///< after one that was not answered
};

/// What is known of a job.
struct SlurmJobFacts {
    SlurmJobLine line;
    bool known = false;    ///< it was seen since it is watched
    bool gone = false;     ///< Slurm does not know it, or no longer
    /// Of its tasks the one that is watched has ended; others may not have.
    bool task_ended = false;
    std::optional<Tick> runs_since = {};    ///< as seen here
    bool has_ended() const { return gone || (known && stage_of(line.state) == SlurmStage::ended); }
};

/// Slurm's queue as its commands show it: one thread looks at all watched jobs with one squeue, and
/// gives the orders to end some. Nobody is taken for gone because Slurm did not answer. Safe from
/// every thread.
class SlurmQueue {
public:
    /// `clock` outlives the queue.
    SlurmQueue(SlurmQueueOptions options, const Clock& clock);
    ~SlurmQueue();
    SlurmQueue(const SlurmQueue&) = delete;
    SlurmQueue& operator=(const SlurmQueue&) = delete;

    /// Submits a job, held. Returns its number.
    /// errors  throws unavailable with Slurm's words; then nothing of it starts
    std::int64_t submit(const BatchRequest& request);
    /// Lets it start.
    /// errors  throws unavailable
    void release(std::int64_t number);

    /// A job that is looked at until the last one of these is gone.
    class Watch;
    /// `comment` is the job's: another job of its number has another one. `has_ended` says whether
    /// the task that is watched has, when there are several; it is called twice a second.
    std::shared_ptr<Watch> watch(const std::string& name, std::int64_t number,
                                 const std::string& comment, std::function<bool()> has_ended = {});
    /// The watched jobs whose names begin with this.
    std::vector<std::shared_ptr<Watch>> find(const std::string& prefix) const;
    /// Looks at once.
    /// errors  throws exhausted when Slurm does not answer
    std::vector<SlurmJobLine> look();

    /// Returns at once; repeated by whoever wants to be sure.
    void signal(std::int64_t number, const std::string& name);
    void cancel(std::int64_t number);

    /// What Slurm said when it was last asked and did not answer; empty: it did.
    std::string trouble() const;

private:
    void work();
    void run_orders(std::deque<std::vector<std::string>> orders);
    void look_at_watched();
    std::string run(const std::vector<std::string>& words, const std::string& input,
                    ErrorCode code);
    void order(std::vector<std::string> words);

    const SlurmQueueOptions options_;
    const Clock& clock_;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    bool stopping_ = false;                          // guarded by mutex_
    std::deque<std::vector<std::string>> orders_;    // guarded by mutex_
    std::vector<std::weak_ptr<Watch>> watched_;      // guarded by mutex_
    std::string trouble_;                            // guarded by mutex_
    Tick silent_until_{};                            // guarded by mutex_

    std::thread thread_;
};

class SlurmQueue::Watch {
public:
    Watch(std::string name, std::int64_t number, std::string comment,
          std::function<bool()> has_ended)
        : name_(std::move(name)),
          number_(number),
          comment_(std::move(comment)),
          has_ended_(std::move(has_ended)),
          ended_(make_event()) {}

    const std::string& name() const { return name_; }
    std::int64_t number() const { return number_; }
    SlurmJobFacts facts() const {
        const std::scoped_lock lock(mutex_);
        return facts_;
    }
    /// Readable once the job or its watched task has ended.
    int end_fd() const { return ended_.get(); }

private:
    friend class SlurmQueue;
    void see(const std::vector<SlurmJobLine>& jobs, Tick now);
    void look_at_task();
    void tell_end() const;

    const std::string name_;
    const std::int64_t number_;
    const std::string comment_;
    const std::function<bool()> has_ended_;    // empty: the job has one task
    const UniqueFd ended_;
    mutable std::mutex mutex_;
    SlurmJobFacts facts_;    // guarded by mutex_
};

}    // namespace slipway

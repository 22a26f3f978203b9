#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "api/base/clock.h"
#include "scheduler/store/store.h"

namespace slipway::submission {

/// Keeps the queued jobs of each project, and those of each token, below a limit. Counting them
/// with each submission would cost more than the submission: the count is read once a second and
/// added to meanwhile. So one process never lets more than the limit in, and others on the same
/// database at most what they submit within a second. Safe from every thread.
class QueuedJobs {
public:
    QueuedJobs(store::Store& store, const Clock& clock) : store_(store), clock_(clock) {}

    /// The token may be about to queue jobs of the project: reads the counts unless they are good.
    void refresh(const std::string& project, const std::string& token_id, std::int64_t limit);

    /// It is: `jobs` are new, and no replay. To be called after refresh(). Reads nothing, so that
    /// it can be called within the transaction that stores them. errors  throws exhausted (429),
    /// and adds none, when the project or the token would have more than `limit` of them
    void add(const std::string& project, const std::string& token_id, std::size_t jobs,
             std::int64_t limit);

private:
    struct Count {
        std::int64_t jobs = 0;
        std::int64_t added = 0;    ///< by add(), ever
        Tick read_at{};
        bool read = false;
    };

    bool is_fresh(const Count& count) const;
    void update(Count& count, const Count& before, std::int64_t read);
    void evict(std::map<std::string, Count>& counts) const;

    store::Store& store_;
    const Clock& clock_;
    std::mutex reading_;    // one thread reads at a time; taken before mutex_
    std::mutex mutex_;
    // Guarded by mutex_:
    std::map<std::string, Count> of_projects_;
    std::map<std::string, Count> of_tokens_;
};

}    // namespace slipway::submission

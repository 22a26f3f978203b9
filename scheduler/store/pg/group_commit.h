#pragma once

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/base/error.h"

// Group commit. A thread that brings work while nobody works does it at once; what is brought
// meanwhile waits and is then done together by one of those who wait. So one thread alone waits for
// nobody, and many share the round trips, the statements and the waits for the disk of one. No
// thread of its own and no timer: the size of a group follows the load by itself (as LevelDB's
// writers do).
namespace slipway::store {

struct GroupCommitLimits {
    std::size_t items_max = 64;
    /// At a time. Two were tried: smaller groups, more CPU time, no higher rate.
    int groups_max = 1;
    /// Groups that take longer (they wait for a lock) hold others up no further: the next one
    /// begins beside them.
    std::chrono::milliseconds patience{20};
    int patient_groups_max = 4;
};

/// Safe from every thread. `Item` holds what is asked and takes the answer.
template <class Item>
class GroupCommit {
public:
    using Run = std::function<void(std::span<Item* const>)>;

    /// `run` does the items wholly or throws and has done none.
    explicit GroupCommit(Run run, GroupCommitLimits limits = {})
        : run_(std::move(run)), limits_(limits) {}

    /// Returns when `item` has been done. errors  what `run` throws: when it refuses a group, each
    /// item is done by itself, so that nobody gets the error of another; unavailable (then nobody
    /// knows what was done) is everybody's.
    void add(Item& item) {
        Entry entry(&item);
        std::unique_lock lock(mutex_);
        waiting_.push_back(&entry);
        while (!entry.done) {
            if (!entry.taken && may_begin()) {
                run_first(lock);
            } else if (entry.taken) {
                entry.changed.wait(lock);
            } else {
                entry.changed.wait_for(lock, limits_.patience);
            }
        }
        if (entry.error) std::rethrow_exception(entry.error);
    }

    /// Does these now, as a group that waits for no other. `errors` has as many places: each gets
    /// what add() would have thrown.
    void add_group(std::span<Item* const> items, std::span<std::exception_ptr> errors) const {
        std::deque<Entry> entries;
        std::vector<Entry*> group;
        for (Item* item : items)
            group.push_back(&entries.emplace_back(item));
        if (!group.empty()) run(group);
        for (std::size_t i = 0; i < items.size(); ++i)
            errors[i] = entries[i].error;
    }

private:
    struct Entry {
        explicit Entry(Item* of) : item(of) {}

        Item* item;
        bool taken = false;
        bool done = false;
        std::exception_ptr error{};
        std::condition_variable changed{};
    };

    bool may_begin() const {
        if (running_ < limits_.groups_max) return true;
        return running_ < limits_.patient_groups_max &&
               system_clock().tick() - began_at_ >= limits_.patience;
    }

    /// The first of those that wait, in the order in which they came.
    void run_first(std::unique_lock<std::mutex>& lock) {
        const std::size_t count = std::min(waiting_.size(), limits_.items_max);
        const std::vector<Entry*> group(waiting_.begin(), waiting_.begin() + std::ptrdiff_t(count));
        waiting_.erase(waiting_.begin(), waiting_.begin() + std::ptrdiff_t(count));
        for (Entry* entry : group)
            entry->taken = true;
        ++running_;
        began_at_ = system_clock().tick();
        lock.unlock();
        run(group);
        lock.lock();
        --running_;
        for (Entry* entry : group) {
            entry->done = true;
            entry->changed.notify_one();
        }
        if (!waiting_.empty()) waiting_.front()->changed.notify_one();
    }

    void run(std::span<Entry* const> group) const {
        std::vector<Item*> items;
        for (const Entry* entry : group)
            items.push_back(entry->item);
        try {
            run_(items);
        } catch (const Error& error) {
            if (group.size() == 1) {
                group.front()->error = std::current_exception();
            } else if (error.code() == ErrorCode::unavailable) {
                fail_all(group, error.code(), error.what());
            } else {
                for (Entry* entry : group)
                    run(std::span(&entry, 1));
            }
        } catch (const std::exception& error) {
            fail_all(group, ErrorCode::internal, error.what());
        }
    }

    /// Each gets an error of its own: threads that share one would have to agree on its end.
    static void fail_all(std::span<Entry* const> group, ErrorCode code,
                         const std::string& message) {
        for (Entry* entry : group)
            entry->error = std::make_exception_ptr(Error{code, message});
    }

    const Run run_;
    const GroupCommitLimits limits_;
    std::mutex mutex_;
    // Guarded by mutex_:
    std::deque<Entry*> waiting_;
    int running_ = 0;
    Tick began_at_{};    ///< of the newest group
};

}    // namespace slipway::store

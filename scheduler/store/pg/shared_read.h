#pragma once

#include <condition_variable>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "api/base/clock.h"
#include "api/base/error.h"
#include "scheduler/store/asked_at.h"

// One read for all who ask for the same at the same time. The answer is never older than the
// question: a read answers those questions only that were asked before it began. Who asks while
// one runs gets the answer of the next one, and all who asked meanwhile share it; who has asked
// earlier and comes for the answer late (a request that waited for its turn) may find it given. So
// nothing has to be forgotten when the row changes, as a cache would.
namespace slipway::store {

/// Safe from every thread.
template <class Key, class Value>
class SharedRead {
public:
    using Answer = std::shared_ptr<const Value>;

    /// What `read()` returns, by this thread or by another that asked for `key`; of a read that
    /// began at `asked_at` (of system_clock()) or later. errors  Error with the code and the
    /// message of that read's
    template <class Read>
    Answer get(const Key& key, Tick asked_at, const Read& read) {
        std::unique_lock lock(mutex_);
        const std::shared_ptr<Round> round = join(key, asked_at);
        while (!round->done) {
            if (!round->running && !rounds_.at(key).latest_runs()) {
                begin(key, *round);
                lock.unlock();
                perform(*round, read);
                lock.lock();
                end(key, *round);
            } else {
                round->changed.wait(lock);
            }
        }
        // An error of its own for each: threads that share one would have to agree on its end.
        if (round->failed) throw Error{round->code, round->message};
        return round->answer;
    }

    template <class Read>
    Answer get(const Key& key, const Read& read) {
        return get(key, asked_now, read);
    }

private:
    static constexpr std::size_t kept_max = 16;    // answers that nobody waits for

    /// Those who get one answer.
    struct Round {
        bool running = false;
        bool done = false;
        Tick began_at{};
        Answer answer{};
        bool failed = false;
        ErrorCode code{};
        std::string message{};
        std::condition_variable changed{};
    };
    /// Of one key.
    struct Rounds {
        std::shared_ptr<Round> latest{};    ///< that has begun, and has not failed
        std::shared_ptr<Round> next{};      ///< it has not begun: who comes now may join it

        bool latest_runs() const { return latest && !latest->done; }
    };

    std::shared_ptr<Round> join(const Key& key, Tick asked_at) {
        Rounds& rounds = rounds_[key];
        if (rounds.latest && rounds.latest->began_at >= asked_at) return rounds.latest;
        if (!rounds.next) rounds.next = std::make_shared<Round>();
        return rounds.next;
    }

    void begin(const Key& key, Round& round) {
        Rounds& rounds = rounds_.at(key);
        rounds.latest = std::exchange(rounds.next, nullptr);
        round.running = true;
        round.began_at = system_clock().tick();
    }

    template <class Read>
    static void perform(Round& round, const Read& read) {
        try {
            round.answer = std::make_shared<const Value>(read());
        } catch (const Error& error) {
            fail(round, error.code(), error.what());
        } catch (const std::exception& error) {
            fail(round, ErrorCode::internal, error.what());
        }
    }

    static void fail(Round& round, ErrorCode code, const std::string& message) {
        round.failed = true;
        round.code = code;
        round.message = message;
    }

    void end(const Key& key, Round& round) {
        round.done = true;
        round.changed.notify_all();
        Rounds& rounds = rounds_.at(key);
        if (round.failed) rounds.latest = nullptr;
        if (rounds.next) {
            rounds.next->changed.notify_one();
        } else if (rounds_.size() > kept_max) {
            std::erase_if(rounds_, [](const auto& one) {
                return !one.second.next && !one.second.latest_runs();
            });
        }
    }

    std::mutex mutex_;
    std::map<Key, Rounds> rounds_;    // guarded by mutex_
};

}    // namespace slipway::store

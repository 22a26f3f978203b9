#pragma once

#include <condition_variable>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "api/base/error.h"

// One read for all who ask for the same at the same time. The answer is never older than the
// question: who asks while a read runs gets the answer of the next one, which begins after the
// question, and all who asked meanwhile share it. So nothing has to be forgotten when the row
// changes, as a cache would.
namespace slipway::store {

/// Safe from every thread.
template <class Key, class Value>
class SharedRead {
public:
    using Answer = std::shared_ptr<const Value>;

    /// What `read()` returns, by this thread or by another that asked for `key`. errors  Error with
    /// the code and the message of that read's
    template <class Read>
    Answer get(const Key& key, const Read& read) {
        std::unique_lock lock(mutex_);
        const std::shared_ptr<Round> round = join(key);
        while (!round->done) {
            if (!round->running && !is_reading(key)) {
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

private:
    /// Those who get one answer.
    struct Round {
        bool running = false;
        bool done = false;
        Answer answer{};
        bool failed = false;
        ErrorCode code{};
        std::string message{};
        std::condition_variable changed{};
    };
    /// Of one key, as long as somebody asks.
    struct Rounds {
        bool reading = false;
        std::shared_ptr<Round> next{};    ///< it has not begun: who comes now may join it
    };

    std::shared_ptr<Round> join(const Key& key) {
        Rounds& rounds = rounds_[key];
        if (!rounds.next) rounds.next = std::make_shared<Round>();
        return rounds.next;
    }

    bool is_reading(const Key& key) const { return rounds_.at(key).reading; }

    void begin(const Key& key, Round& round) {
        Rounds& rounds = rounds_.at(key);
        rounds.reading = true;
        rounds.next = nullptr;
        round.running = true;
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
        rounds.reading = false;
        if (rounds.next) {
            rounds.next->changed.notify_one();
        } else {
            rounds_.erase(key);
        }
    }

    std::mutex mutex_;
    std::map<Key, Rounds> rounds_;    // guarded by mutex_
};

}    // namespace slipway::store

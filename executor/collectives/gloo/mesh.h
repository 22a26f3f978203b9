#pragma once

#include <gloo/transport/unbound_buffer.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/protocol/attempt_order.h"
#include "executor/collectives/gloo/wait_alarm.h"

namespace gloo::transport {
class Context;
class Device;
}    // namespace gloo::transport

namespace slipway {

/// What one member gives another: bytes that stay there until they are sent.
struct Outgoing {
    int to = 0;
    std::span<const std::byte> bytes;
};

struct Incoming {
    int from = 0;
    std::span<std::byte> bytes;
};

/// What members tell each other at a barrier.
struct Word {
    std::uint64_t barrier = 0;    ///< a hash of its name
    std::uint64_t here = 0;       ///< 1: has come; 0: is alive and still busy
};

/// A connection to each other member, over TCP. What is sent to a member and what it receives have
/// equal lengths, in the same order. Operations are one thread's, but send_word.
/// errors  MemberLost naming who, and in which phase
class Mesh {
public:
    /// Publishes this member's addresses, meets the others, connects, and has each prove that it
    /// knows the secret.
    explicit Mesh(const MemberOrder& order);
    ~Mesh();
    Mesh(const Mesh&) = delete;
    Mesh& operator=(const Mesh&) = delete;

    const MemberOrder& order() const { return order_; }
    /// All other ranks, rising.
    const std::vector<int>& others() const { return others_; }

    /// Sends and receives all of it; returns when both are done.
    void exchange(std::string_view phase, std::span<const Outgoing> out,
                  std::span<const Incoming> in);

    /// Sends a word to all others. Any thread; false when one of them can no longer be reached.
    bool send_word(const Word& word);
    /// Sends that this member is at the barrier and waits for all others; longer than the time
    /// limit for those that send words of being busy. To be called when no send_word is at work.
    void meet_at(std::string_view barrier);

    /// The connection to that member is broken. Waits for nothing.
    bool has_ended(int rank);
    /// Throws what operations threw that failed, if one did.
    void require_usable() const;
    [[noreturn]] void lose_ended(std::string_view phase, int rank);
    [[noreturn]] void lose_late(std::string_view phase, const std::vector<int>& late);

private:
    using Deadline = std::chrono::steady_clock::time_point;
    /// Memory that is sent or received.
    using Port = std::unique_ptr<::gloo::transport::UnboundBuffer>;
    /// A transfer with one member that has begun.
    struct Transfer {
        int rank = 0;
        bool receives = false;
        Port port = {};
    };
    /// What a member that is waited for at a barrier says.
    struct Heard {
        int rank = 0;
        std::unique_ptr<Word> word = std::make_unique<Word>();
        std::optional<Transfer> transfer = {};    ///< of the word that comes next
        Deadline until = {};
    };
    /// A byte that no member sends: the wait for it fails when the connection does.
    struct Watch {
        std::byte nothing{};
        Port port = {};
        std::string why = {};    ///< it is broken; empty: it is not
    };
    /// What a member that gives up tells the others before its connections break: whom it lost.
    /// Text that ends with 0.
    using Farewell = std::array<char, 256>;
    struct FarewellPort {
        Farewell text{};
        Port port = {};
    };
    /// A word on its way to all others.
    struct SentWord {
        Word word;
        Port port;
        std::size_t sends = 0;
    };

    void connect(std::span<const std::vector<std::string>> addresses);
    void authenticate();
    void expect_farewells();
    std::string farewell_of(int rank);
    void say_farewell(const std::string& message);
    Port port(std::span<std::byte> bytes) const;
    Transfer begin(std::string_view phase, Transfer transfer, std::uint64_t slot);
    void watch_connections();
    template <class Open>
    bool put_ended_first(Open& open);
    bool wait(const Transfer& transfer, Deadline until);
    void finish(std::string_view phase, std::vector<Transfer> open);
    void hear_next(std::string_view barrier, Heard& heard);
    void take_word(std::string_view barrier, std::vector<Heard>& open);
    void finish_words(std::string_view barrier);
    [[noreturn]] void lose(const std::string& message);
    [[noreturn]] void lose_broken(std::string_view phase, int rank, std::string_view why);

    const MemberOrder order_;
    const std::chrono::milliseconds limit_;
    std::vector<int> others_;
    std::shared_ptr<::gloo::transport::Device> device_;
    std::shared_ptr<::gloo::transport::Context> context_;
    std::vector<std::unique_ptr<SentWord>> words_;    ///< until the next barrier has ended
    std::vector<Watch> watches_;                      ///< by rank, the own one is of no use
    std::vector<FarewellPort> farewells_;             ///< likewise
    WaitAlarm alarm_;
    std::string lost_;    ///< what ended it; empty: nothing yet
};

}    // namespace slipway

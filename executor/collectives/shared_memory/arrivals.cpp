// A member counts how often it has arrived, in a word of its own that it alone writes, so no word
// is fought for; who waits sleeps on the word of whom it waits for (futex), since the CPU belongs
// to the workers beside it. The kernel does not tell a sleeper that the other one was killed: it
// wakes from time to time and asks, which costs microseconds in a wait of milliseconds. The counts
// are 32 bits and wrap around: no two members are ever two points apart.
#include "executor/collectives/shared_memory/arrivals.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <utility>

#include "api/base/check.h"

namespace slipway {

namespace {

using std::chrono::steady_clock;

/// Of one member: adjacent lines are fetched together.
constexpr std::size_t place_bytes = 128;
constexpr std::chrono::milliseconds ask_again{10};

void sleep_on(std::uint32_t& word, std::uint32_t seen) {
    const timespec most{.tv_sec = 0, .tv_nsec = std::chrono::nanoseconds(ask_again).count()};
    syscall(SYS_futex, &word, FUTEX_WAIT, seen, &most, nullptr, 0);
}

void wake_all_on(std::uint32_t& word) {
    syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

std::uint32_t read(std::uint32_t& word) {
    return std::atomic_ref(word).load(std::memory_order_acquire);
}

}    // namespace

std::size_t Arrivals::bytes_of(int count) {
    return std::size_t(count) * place_bytes;
}

Arrivals::Arrivals(std::span<std::byte> memory, int rank, int count, std::chrono::nanoseconds limit,
                   MissingMembers missing_members)
    : memory_(memory),
      rank_(rank),
      count_(count),
      limit_(limit),
      missing_members_(std::move(missing_members)) {
    check(memory.size() >= bytes_of(count), "each member has a place for its count");
    std::atomic_ref(count_of(rank_)).store(0, std::memory_order_release);
}

std::uint32_t& Arrivals::count_of(int rank) const {
    return *reinterpret_cast<std::uint32_t*>(memory_.data() + std::size_t(rank) * place_bytes);
}

bool Arrivals::has_arrived(int rank) const {
    return is_reached(read(count_of(rank)));
}

/// Whether who has arrived so often is where this member is.
bool Arrivals::is_reached(std::uint32_t times) const {
    return std::int32_t(times - arrived_) >= 0;
}

std::vector<int> Arrivals::missing() const {
    std::vector<int> ranks;
    for (int rank = 0; rank < count_; ++rank)
        if (!has_arrived(rank)) ranks.push_back(rank);
    return ranks;
}

void Arrivals::arrive() {
    until_ = steady_clock::now() + limit_;
    std::atomic_ref(count_of(rank_)).store(++arrived_, std::memory_order_release);
    wake_all_on(count_of(rank_));
}

void Arrivals::wait_for(int rank) {
    while (true) {
        const std::uint32_t seen = read(count_of(rank));
        if (is_reached(seen)) return;
        sleep_on(count_of(rank), seen);
        if (!has_arrived(rank)) look_after(missing());
    }
}

/// Who has arrived may have ended since.
void Arrivals::look_after(const std::vector<int>& ranks) const {
    for (const int rank : ranks)
        if (missing_members_.has_ended(rank) && !has_arrived(rank))
            missing_members_.lose_ended(rank);
    if (steady_clock::now() >= until_) missing_members_.lose_late(ranks);
}

void Arrivals::wait_for_all() {
    for (int rank = 0; rank < count_; ++rank)
        if (rank != rank_) wait_for(rank);
}

}    // namespace slipway

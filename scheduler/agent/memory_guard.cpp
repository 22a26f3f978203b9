#include "scheduler/agent/memory_guard.h"

#include <fmt/format.h>

// The launcher's own limit gives an honest executor an error that it can report, before anything
// here acts. What is above it by uncounted_memory_bytes() is hostile or a defect: the launcher ends
// it, or we do.
namespace slipway {

namespace {

constexpr std::chrono::seconds lately{10};
constexpr const char* remedy =
    "a larger accelerator.memory_bytes or more cores raise the limit, a smaller batch or network "
    "needs less";

}    // namespace

void HostMemoryKills::read(Tick now) {
    if (since_ >= 0 && now - turned_ < lately) return;
    // Nothing was read while nobody was watched: what happened then is not lately.
    before_ = now - turned_ < 2 * lately ? since_ : -1;
    since_ = process_.count_host_memory_kills();
    turned_ = now;
}

bool HostMemoryKills::have_risen() const {
    const std::int64_t earlier = before_ >= 0 ? before_ : since_;
    return earlier >= 0 && process_.count_host_memory_kills() > earlier;
}

bool MemoryGuard::is_exceeded() {
    used_bytes_ = process_.read_memory_bytes();
    return used_bytes_ > limit_bytes_ + process_.uncounted_memory_bytes();
}

std::optional<MemoryEnd> MemoryGuard::end(EndCause cause, bool by_others) const {
    MemoryEnd end{.limit_bytes = limit_bytes_, .used_bytes = used_bytes_};
    if (cause == EndCause::memory) return end;
    if (process_.exceeded_memory()) {
        end.used_bytes = limit_bytes_ + process_.uncounted_memory_bytes();
        return end;
    }
    end.machine = by_others && host_kills_.have_risen();
    return end.machine ? std::optional(end) : std::nullopt;
}

std::string describe(const MemoryEnd& end) {
    if (end.machine) {
        const std::string limit = end.limit_bytes > 0
                                      ? fmt::format("its limit is {} bytes", end.limit_bytes)
                                      : std::string("it has no limit");
        const std::string used =
            end.used_bytes > 0 ? fmt::format(", and it had {} bytes when last read", end.used_bytes)
                               : std::string();
        return fmt::format(
            "the memory of the machine was used up, and the system ended the "
            "executor; {}{}; --job-memory-mib must leave enough for the system",
            limit, used);
    }
    return fmt::format(
        "the executor used more memory than it may: its limit is {} bytes with the executor's own, "
        "and it had {} bytes; {}",
        end.limit_bytes, end.used_bytes, remedy);
}

}    // namespace slipway

#pragma once

#include <sched.h>

#include <optional>

namespace slipway {

/// While it lives, the calling thread runs on one CPU only; after that where it might before, and
/// so do threads that it starts then. Not kept where the system refuses, nor without a CPU.
class KeptOn {
public:
    explicit KeptOn(std::optional<int> cpu) {
        if (!cpu || sched_getaffinity(0, sizeof before_, &before_) != 0) return;
        cpu_set_t only;
        CPU_ZERO(&only);
        CPU_SET(*cpu, &only);
        is_kept_ = sched_setaffinity(0, sizeof only, &only) == 0;
    }
    ~KeptOn() {
        if (is_kept_) sched_setaffinity(0, sizeof before_, &before_);
    }
    KeptOn(const KeptOn&) = delete;
    KeptOn& operator=(const KeptOn&) = delete;

    bool is_kept() const { return is_kept_; }

private:
    cpu_set_t before_{};
    bool is_kept_ = false;
};

}    // namespace slipway

#include "server/main/copy_progress.h"

#include <fmt/format.h>

#include <utility>

namespace slipway {
namespace {

constexpr std::chrono::seconds pause{5};

}    // namespace

CopyReporter::CopyReporter(std::string verb, const Clock& clock)
    : verb_(std::move(verb)), clock_(clock), next_(clock.tick() + pause) {}

CopyProgress CopyReporter::progress() {
    return [this](const CopyCounts& counts) {
        const Tick now = clock_.tick();
        if (now < next_) return;
        next_ = now + pause;
        print_sum(counts);
    };
}

void CopyReporter::print_sum(const CopyCounts& counts) const {
    fmt::print(stderr, "{} {} files, {} MiB\n", verb_, counts.files, counts.bytes >> 20);
}

}    // namespace slipway

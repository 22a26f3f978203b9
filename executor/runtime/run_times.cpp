#include "executor/runtime/run_times.h"

#include <algorithm>

namespace slipway {

std::chrono::nanoseconds RunTimes::start_wait() const {
    Tick last = begin;
    for (const WorkerTimes& worker : workers)
        last = std::max(last, worker.begin);
    return last - begin;
}

std::chrono::nanoseconds RunTimes::exchanging() const {
    std::chrono::nanoseconds sum{};
    for (const SumSpan& span : exchanges)
        sum += span.end - span.begin;
    return sum;
}

}    // namespace slipway

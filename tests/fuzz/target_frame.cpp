#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "api/base/check.h"
#include "api/base/json.h"
#include "scheduler/agent/frame_tail.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"

namespace slipway {

namespace {

constexpr std::int64_t whole_max = std::int64_t{1} << 53;    // what a double counts to

bool is_whole(std::int64_t number) {
    return number >= 0 && number <= whole_max;
}

void check_frame(const ReadFrame& read) {
    const store::RelayedFrame& frame = read.frame;
    check(is_whole(frame.number), "a frame has a number that counts on");
    for (const auto& point : frame.metrics)
        check(is_whole(point.step) && is_whole(point.epoch), "a point has a place");
    for (const auto& event : frame.events)
        check(Json::accept(event.body), "an event is JSON");
    if (!frame.checkpoint) return;
    const store::RelayedCheckpoint& made = *frame.checkpoint;
    check(is_whole(made.step) && is_whole(made.epoch) && is_whole(made.bytes),
          "a checkpoint has a place and a size");
    check(!made.name.empty() && made.name.size() <= 255 && made.name[0] != '.' &&
              made.name.find('/') == std::string::npos,
          "a checkpoint's name leads nowhere else");
}

}    // namespace

std::string run_frame(std::span<const std::byte> input) {
    const auto read = read_frame(text_of(input));
    if (!read) return "no frame";
    check_frame(*read);
    const store::RelayedFrame& frame = read->frame;
    std::string said = fmt::format("frame {}: {} events, {} metrics", frame.number,
                                   frame.events.size(), frame.metrics.size());
    if (frame.state) said += ", a state";
    if (!frame.progress.empty()) said += ", progress";
    if (frame.checkpoint) said += fmt::format(", checkpoint of {} bytes", frame.checkpoint->bytes);
    if (read->done) said += ", done: " + std::string(to_string(read->done->outcome));
    for (const auto& event : frame.events)
        if (event.type == "warning") said += ", " + event.body;
    return said;
}

}    // namespace slipway

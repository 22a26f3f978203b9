#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "api/base/clock.h"
#include "executor/main/frames/frame_listener.h"
#include "executor/main/frames/frame_log.h"

namespace slipway {

struct FrameChannelOptions {
    std::filesystem::path run_folder;
    std::string fence;    ///< only a hello with this is listened to
    std::chrono::milliseconds heartbeat_every{1000};
    /// After so long without an agent `on_abandoned` is called once, from the channel's thread: the
    /// way out for a run that does not end by itself. 0: never.
    std::chrono::milliseconds abandoned_after{0};
    std::function<void()> on_abandoned = {};
    /// Of a process that stays; it outlives the channel. Null: the channel has its own.
    FrameListener* listener = nullptr;
};

/// How soon new frames are sent.
enum class Urgency {
    with_others,    ///< within 5 ms until the first one that is that goes now, at most 45 ms; then
                    ///< soon
    soon,           ///< at once, but no sooner than 20 ms after others
    now             ///< at once
};

/// The executor's side of executor.sock: one agent at a time gets every frame after the number it
/// names, then new ones as they come, and heartbeats. A newer hello with the right fence takes the
/// place of the older connection. Frames are read from the log's file, so memory stays small
/// whatever the agent does. One thread of its own, joined by the destructor; the calls are safe
/// from every thread.
class FrameChannel {
public:
    /// Starts to listen. `log` and `clock` outlive the channel.
    /// errors  throws unavailable when the socket cannot be made
    FrameChannel(const FrameLog& log, FrameChannelOptions options, const Clock& clock);
    ~FrameChannel();
    FrameChannel(const FrameChannel&) = delete;
    FrameChannel& operator=(const FrameChannel&) = delete;

    /// New frames are in the log.
    void wake(Urgency urgency = Urgency::soon);
    /// What the agent asked for, the word of an Intent; the first request stays.
    std::optional<std::string> stop_reason() const;
    /// The highest number of a request to save: how many have been asked for, ever.
    std::int64_t saves_requested() const;
    /// Time since an agent last said anything; since the start when none ever did.
    std::chrono::milliseconds agent_silence() const;
    /// Waits until a connected agent has been sent everything, at most `limit`; false when it has
    /// not, or nobody is connected.
    bool flush(std::chrono::milliseconds limit);

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}    // namespace slipway

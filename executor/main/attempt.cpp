#include "executor/main/attempt.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "api/base/printable.h"
#include "api/protocol/exit_codes.h"
#include "api/spec/intent.h"
#include "executor/main/crash_handler.h"
#include "executor/main/frame_reporter.h"
#include "executor/main/frames/frame_channel.h"
#include "executor/main/frames/frame_log.h"
#include "executor/main/position_file.h"
#include "executor/main/run_folder.h"
#include "executor/main/sinks.h"
#include "executor/main/stop_signal.h"

namespace slipway {

namespace {

constexpr std::chrono::seconds last_words_max{2};

std::chrono::milliseconds milliseconds_of(double seconds) {
    return std::chrono::milliseconds(std::int64_t(seconds * 1000));
}

/// The stop rules, most wanted first: what the agent asked for, a signal, no agent at all.
StopReason stop_reason(const FrameChannel& channel, std::chrono::milliseconds grace) {
    if (const auto asked = channel.stop_reason()) {
        const std::optional<Intent> intent = parse_word<Intent>(*asked);
        if (intent == Intent::cancel) return StopReason::cancel;
        if (intent == Intent::timeout) return StopReason::timeout;
        return StopReason::drain;    // pause, preempt; a word of another version's agent
    }
    if (stop_signalled()) return StopReason::drain;
    return channel.agent_silence() >= grace ? StopReason::orphaned : StopReason::none;
}

/// A first step is what somebody waits for.
Urgency urgency_of(const Json& frame, bool& stepped) {
    if (frame.at("type") != "metric") return Urgency::with_others;
    return std::exchange(stepped, true) ? Urgency::soon : Urgency::now;
}

/// Where output.log is on a full disk, what cannot be written is lost; fmt::print would throw.
void print_error(const std::string& text) {
    std::fputs(text.c_str(), stderr);
}

/// Emits the last frame; a disk so full that not even that fits leaves only the exit code.
Ending say_last(FrameLog& log, Ending ending) {
    try {
        log.emit(done_frame(ending));
    } catch (const Error& error) {
        print_error(fmt::format("cannot say how it ended: {}: {}\n", error.what(),
                                printable_line(ending.message)));
        if (error.code() == ErrorCode::exhausted) ending.exit_code = exit_disk_full;
        ending.is_clean_failure = false;
    }
    return ending;
}

Ending run_order(const std::filesystem::path& run_folder, const ResolvedAttempt& order,
                 const Trainer& trainer, const Clock& clock, FrameListener* listener) {
    // Where OpenTelemetry's libraries look for it; before there are other threads.
    if (!order.traceparent.empty()) setenv("TRACEPARENT", order.traceparent.c_str(), 1);
    FrameLog log(run_folder / "frames.ndjson", clock);
    const std::chrono::milliseconds grace = milliseconds_of(order.grace_s);
    FrameChannel channel(
        log,
        {.run_folder = run_folder,
         .fence = order.fence,
         .abandoned_after = 2 * grace,
         .on_abandoned =
             [&log] {
                 const Ending said =
                     say_last(log, {.outcome = AttemptOutcome::orphaned,
                                    .code = {},
                                    .message = "the agent did not answer, and saving took too long",
                                    .result = {},
                                    .exit_code = exit_orphaned});
                 _exit(said.exit_code);
             },
         .listener = listener},
        clock);
    FrameReporter reporter(
        [&, stepped = false](const Json& frame) mutable {
            log.emit(frame);
            channel.wake(urgency_of(frame, stepped));
        },
        {.stop = [&] { return stop_reason(channel, grace); },
         .save =
             [&, answered = order.saves_requested]() mutable {
                 const std::int64_t asked = channel.saves_requested();
                 return asked > std::exchange(answered, std::max(answered, asked));
             }},
        clock);
    if (!order.traceparent.empty()) reporter.log("info", "traceparent " + order.traceparent);
    SinkReporter with_sinks(reporter, order.plan.spec.monitor.sinks, order.plan.report_folder,
                            clock);
    PositionFile position(run_folder);
    AttemptPlan plan = order.plan;
    plan.position = &position.position();
    note_crashes_in(plan.position);
    Ending ending = train_to_the_end(trainer, std::move(plan), with_sinks);
    note_crashes_in(nullptr);
    ending = say_last(log, std::move(ending));
    channel.flush(last_words_max);
    return ending;
}

/// There may be no channel yet: the frame goes to the file, where the agent reads it after the
/// exit.
Ending give_up(const std::filesystem::path& run_folder, const Ending& ending, const Clock& clock) {
    try {
        FrameLog log(run_folder / "frames.ndjson", clock);
        return say_last(log, ending);
    } catch (const Error& second) {
        print_error(fmt::format("{}: {}\n", second.what(), printable_line(ending.message)));
    }
    return ending;
}

}    // namespace

Ending run_to_ending(const std::filesystem::path& run_folder, const Trainer& trainer,
                     const Clock& clock, FrameListener* listener) {
    try {
        catch_stop_signals();
        const Result<ResolvedAttempt> order = read_attempt(run_folder);
        if (order) return run_order(run_folder, *order, trainer, clock, listener);
        const bool is_readable = order.error().code() != ErrorCode::conflict;
        return give_up(run_folder,
                       is_readable ? failed_with(order.error()) : of_another_build(order.error()),
                       clock);
    } catch (const Error& error) {
        return give_up(run_folder, failed_with(error), clock);
    }
}

int run_attempt(const std::filesystem::path& run_folder, const Trainer& trainer,
                const Clock& clock) {
    return run_to_ending(run_folder, trainer, clock).exit_code;
}

}    // namespace slipway

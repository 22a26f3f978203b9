// frames.ndjson is a log that one executor appends to and the agent reads from where it stopped,
// in chunks and a bounded number of bytes a turn. A line counts once it ends: what a crash cut
// off is left. Frames are numbered from 1; one whose number is not above the last is passed
// over, so a log that is read again stores nothing twice. A line that is no frame is passed
// over, and a frame that cannot be understood becomes a warning of the job: a hostile or newer
// executor stops nobody, and its number is not asked for again. What each kind of frame becomes
// in the database is one function of a table. The file is the truth: what the database loses is
// read again from here.
#include "scheduler/agent/frame_tail.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <nlohmann/json.hpp>

#include "api/base/id.h"
#include "api/base/parsed_json.h"
#include "api/protocol/members.h"
#include "api/spec/job_state.h"

namespace slipway {

namespace {

constexpr std::size_t chunk_bytes = 1 << 20;    // longer than any frame

void keep_event(const Json& body, ReadFrame& read) {
    Json event = body;
    event.erase("n");
    event.erase("type");
    read.frame.events.push_back({.type = body.at("type").get<std::string>(), .body = event.dump()});
}

void translate_state(const Json& body, ReadFrame& read) {
    // The event is written by the database, with the state.
    read.frame.state = store::RelayedState{.state = read_state_frame(body).state};
}

void translate_progress(const Json& body, ReadFrame& read) {
    Json progress = body;
    for (const char* name : {"n", "type", "time"})
        progress.erase(name);
    read.frame.progress = progress.dump();
    keep_event(body, read);
}

void translate_metric(const Json& body, ReadFrame& read) {
    const MetricFrame metric = read_metric_frame(body);
    for (const auto& [name, value] : metric.values) {
        read.frame.metrics.push_back(
            {.name = name, .step = metric.step, .epoch = metric.epoch, .value = value});
    }
    keep_event(body, read);
}

/// With best.keep above 1 a checkpoint may be among the best and not be the best one.
bool is_the_best(const CheckpointFrame& checkpoint) {
    if (checkpoint.kept)
        return !checkpoint.kept->best.empty() && checkpoint.kept->best[0] == checkpoint.name;
    return std::ranges::find(checkpoint.kinds, "best") != checkpoint.kinds.end();
}

store::RelayedCheckpoint relayed(const CheckpointFrame& checkpoint, const Json& body) {
    store::RelayedCheckpoint row{.id = new_id("ckp"),
                                 .name = checkpoint.name,
                                 .step = checkpoint.step,
                                 .epoch = checkpoint.epoch,
                                 .kinds = checkpoint.kinds,
                                 .files = body.at("files").dump(),
                                 .bytes = checkpoint.bytes(),
                                 .pruned = checkpoint.pruned};
    if (checkpoint.metric) {
        row.metric_name = checkpoint.metric->first;
        row.metric_value = checkpoint.metric->second;
    }
    if (checkpoint.kept) row.kept = {checkpoint.kept->last, checkpoint.kept->best};
    if (checkpoint.writer) row.written_by = to_json(*checkpoint.writer).dump();
    return row;
}

void translate_checkpoint(const Json& body, ReadFrame& read) {
    const CheckpointFrame checkpoint = read_checkpoint_frame(body);
    read.frame.checkpoint = relayed(checkpoint, body);
    const std::string& id = read.frame.checkpoint->id;
    if (is_the_best(checkpoint) && checkpoint.metric && !checkpoint.metric->first.empty() &&
        std::isfinite(checkpoint.metric->second)) {
        const Json best{{"metric", checkpoint.metric->first},
                        {"value", checkpoint.metric->second},
                        {"step", checkpoint.step},
                        {"checkpoint", id}};
        read.frame.best = best.dump();
    }
    Json event = body;
    event.erase("kept");
    event["id"] = id;
    keep_event(event, read);
}

void translate_done(const Json& body, ReadFrame& read) {
    read.done = read_done_frame(body);
    // A job succeeds from `finishing`; left out where it is there already.
    if (read.done->outcome == AttemptOutcome::succeeded)
        read.frame.state = store::RelayedState{.state = JobState::finishing};
}

/// The files are where GET …/report looks for them: nothing is left to be done.
void translate_report(const Json&, ReadFrame&) {}

using Translate = void (*)(const Json& body, ReadFrame& read);

/// What a frame makes of its body. All types are listed: the compiler warns of one that is not.
Translate translation_of(FrameType type) {
    switch (type) {
        case FrameType::state:
            return translate_state;
        case FrameType::progress:
            return translate_progress;
        case FrameType::metric:
            return translate_metric;
        case FrameType::checkpoint:
            return translate_checkpoint;
        case FrameType::report:
            return translate_report;
        case FrameType::done:
            return translate_done;
        case FrameType::log:
        case FrameType::warning:
        case FrameType::compile:
            break;
    }
    return keep_event;
}

ReadFrame unreadable(std::int64_t number, const std::string& why) {
    ReadFrame read;
    read.frame.number = number;
    const Json body{{"code", "bad_frame"},
                    {"message", "a frame of the executor cannot be read: " + why}};
    read.frame.events.push_back(
        {.type = "warning", .body = body.dump(-1, ' ', false, Json::error_handler_t::replace)});
    return read;
}

}    // namespace

std::optional<ReadFrame> read_frame(std::string_view line) {
    // Limits, because whatever an executor was made to say must not harm us.
    const auto parsed = parse_json(line, {.bytes_max = chunk_bytes, .items_max = 100000});
    if (!parsed || !parsed->value.is_object()) return std::nullopt;
    const Json& body = parsed->value;
    const auto number = body.find("n");
    if (number == body.end() || !is_whole(*number)) return std::nullopt;
    ReadFrame read;
    read.frame.number = number->get<std::int64_t>();
    try {
        const auto word = member<std::string>(body, "type");
        const auto type = parse_word<FrameType>(word);
        if (!type) return unreadable(read.frame.number, "type " + word);
        translation_of (*type)(body, read);
    } catch (const Json::exception& problem) {
        return unreadable(read.frame.number, problem.what());
    } catch (const Error& problem) {
        return unreadable(read.frame.number, problem.what());
    }
    return read;
}

FrameTail::FrameTail(std::filesystem::path file, std::int64_t after)
    : path_(std::move(file)), last_number_(after) {}

const std::vector<ReadFrame>& FrameTail::peek(std::size_t frames_max) {
    const std::int64_t end_of_turn = offset_ + peek_bytes_max;
    while (peeked_.empty()) {
        has_more_ = offset_ >= end_of_turn;
        if (has_more_) break;
        const std::string lines = read_lines();
        if (lines.empty()) break;
        std::string_view rest = lines;
        while (!rest.empty() && peeked_.size() < frames_max) {
            const std::size_t end = rest.find('\n');
            const std::size_t length = end == std::string_view::npos ? rest.size() : end + 1;
            take_line(rest.substr(0, length));
            rest.remove_prefix(length);
            offset_ += std::int64_t(length);
        }
    }
    return peeked_;
}

void FrameTail::advance() {
    peeked_.clear();
}

/// Where the file ends now; behind `offset` it has more than is read.
std::int64_t FrameTail::find_end() {
    struct stat facts {};
    if (file_ && fstat(file_.get(), &facts) == 0 && facts.st_size > offset_) return facts.st_size;
    // On another machine's disk the size may be an old one until the file is opened again.
    file_ = UniqueFd(open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
    if (!file_ || fstat(file_.get(), &facts) != 0) return 0;
    return facts.st_size;
}

std::string FrameTail::read_lines() {
    const std::int64_t end = find_end();
    if (end <= offset_) return {};
    // No longer than what is there: to clear a text of a MiB costs more than to read a few frames.
    std::string text(std::min(chunk_bytes, std::size_t(end - offset_)), '\0');
    ssize_t got = 0;
    do {
        got = pread(file_.get(), text.data(), text.size(), offset_);
    } while (got < 0 && errno == EINTR);
    text.resize(got < 0 ? 0 : std::size_t(got));
    const std::size_t last = text.rfind('\n');
    // A line that fills the whole chunk is no frame: it is passed over piece by piece.
    if (last == std::string::npos) return text.size() == chunk_bytes ? text : std::string();
    text.resize(last + 1);
    return text;
}

/// Frames that are stored already leave how it ended, lines that are no frames nothing.
void FrameTail::take_line(std::string_view line) {
    auto read = read_frame(line);
    if (!read) return;
    if (read->frame.number <= last_number_) {
        if (read->done) done_before_ = std::move(read->done);
        return;
    }
    last_number_ = read->frame.number;
    peeked_.push_back(std::move(*read));
}

}    // namespace slipway

#include "scheduler/agent/frame_tail.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <nlohmann/json.hpp>

#include "api/base/id.h"
#include "api/base/metric_value.h"
#include "api/base/parsed_json.h"
#include "api/spec/event.h"
#include "api/spec/job_state.h"

namespace slipway {

namespace {

constexpr std::size_t chunk_bytes = 1 << 20;    // longer than any frame

/// What a frame's type makes of its body.
struct FrameRow {
    std::string_view type;
    void (*translate)(const Json& body, ReadFrame& read);
};

void keep_event(const Json& body, ReadFrame& read) {
    Json event = body;
    event.erase("n");
    event.erase("type");
    read.frame.events.push_back({.type = body.at("type").get<std::string>(), .body = event.dump()});
}

void translate_state(const Json& body, ReadFrame& read) {
    // The event is written by the database, with the state.
    const auto state = parse_word<JobState>(body.at("state").get<std::string>());
    using enum JobState;
    if (state == compiling || state == running || state == finishing) {
        read.frame.state = store::RelayedState{.state = *state};
    }
}

void translate_progress(const Json& body, ReadFrame& read) {
    Json progress = body;
    for (const char* name : {"n", "type", "time"})
        progress.erase(name);
    read.frame.progress = progress.dump();
    keep_event(body, read);
}

/// Counts to where a double counts, and no further: what is stored and drawn stays exact.
constexpr std::int64_t whole_max = std::int64_t{1} << 53;

bool is_whole(const Json& value) {
    if (value.is_number_unsigned()) return value.get<std::uint64_t>() <= std::uint64_t(whole_max);
    return value.is_number_integer() && value.get<std::int64_t>() >= 0;
}

/// Json's own conversion is undefined for 1e300, and sizes near 2^63 have no sum.
std::int64_t whole_number(const Json& body, const char* name) {
    const Json& value = body.at(name);
    if (!is_whole(value))
        throw Error{ErrorCode::invalid_argument,
                    std::string(name) + " must be a whole number from 0 to 2^53"};
    return value.get<std::int64_t>();
}

void translate_metric(const Json& body, ReadFrame& read) {
    const std::int64_t step = whole_number(body, "step");
    const std::int64_t epoch = body.contains("epoch") ? whole_number(body, "epoch") : 0;
    const Json nonfinite = body.value("nonfinite", Json());
    for (const auto& [name, value] : body.at("values").items()) {
        read.frame.metrics.push_back({.name = name,
                                      .step = step,
                                      .epoch = epoch,
                                      .value = read_named_value(value, nonfinite, name)});
    }
    keep_event(body, read);
}

/// Names become parts of paths: anything that could lead elsewhere makes the frame unreadable.
void require_plain_name(const std::string& name) {
    const bool plain = !name.empty() && name.size() <= 255 && name[0] != '.' &&
                       name.find_first_of(std::string_view("/\0", 2)) == std::string::npos;
    if (!plain)
        throw Error{ErrorCode::invalid_argument, "a file of a checkpoint has no plain name"};
}

/// By the rule of the database, so that what is an event here is a row there.
void require_checkpoint_name(const std::string& name) {
    if (store::is_checkpoint_name(name)) return;
    throw Error{ErrorCode::invalid_argument, "a name of a checkpoint is not plain"};
}

/// A code is a word: it goes into the job's reason, and people search for it.
std::string plain_code(std::string code) {
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789_";
    const bool plain = code.size() <= 64 && code.find_first_not_of(letters) == std::string::npos;
    return plain ? std::move(code) : "internal";
}

/// With best.keep above 1 a checkpoint may be among the best and not be the best one.
bool is_the_best(const store::RelayedCheckpoint& checkpoint) {
    if (checkpoint.kept)
        return !checkpoint.kept->best.empty() && checkpoint.kept->best[0] == checkpoint.name;
    return std::ranges::find(checkpoint.kinds, "best") != checkpoint.kinds.end();
}

void translate_checkpoint(const Json& body, ReadFrame& read) {
    store::RelayedCheckpoint checkpoint;
    checkpoint.id = new_id("ckp");
    checkpoint.name = body.at("name").get<std::string>();
    checkpoint.step = whole_number(body, "step");
    checkpoint.epoch = whole_number(body, "epoch");
    checkpoint.kinds = body.at("kinds").get<std::vector<std::string>>();
    checkpoint.files = body.at("files").dump();
    require_checkpoint_name(checkpoint.name);
    for (const Json& file : body.at("files")) {
        require_plain_name(file.at("name").get<std::string>());
        checkpoint.bytes += whole_number(file, "bytes");
        if (checkpoint.bytes > whole_max)
            throw Error{ErrorCode::invalid_argument, "a checkpoint has more than 2^53 bytes"};
    }
    if (const Json metric = body.value("metric", Json()); metric.is_object()) {
        checkpoint.metric_name = metric.at("name").get<std::string>();
        checkpoint.metric_value = read_value(metric);
    }
    checkpoint.drop = body.value("drop", std::vector<std::string>());
    std::ranges::for_each(checkpoint.drop, require_checkpoint_name);
    if (const Json kept = body.value("kept", Json()); kept.is_object()) {
        checkpoint.kept = {.last = kept.at("last").get<std::vector<std::string>>(),
                           .best = kept.at("best").get<std::vector<std::string>>()};
    }
    if (is_the_best(checkpoint) && !checkpoint.metric_name.empty() &&
        std::isfinite(checkpoint.metric_value)) {
        read.frame.best = Json{
            {"metric", checkpoint.metric_name},
            {"value", checkpoint.metric_value},
            {"step", checkpoint.step},
            {"checkpoint",
             checkpoint.id}}.dump();
    }
    Json event = body;
    event.erase("kept");
    event["id"] = checkpoint.id;
    keep_event(event, read);
    read.frame.checkpoint = std::move(checkpoint);
}

void translate_done(const Json& body, ReadFrame& read) {
    const auto text = [&body](const char* name) {
        const auto found = body.find(name);
        return found != body.end() && found->is_string() ? found->get<std::string>()
                                                         : std::string();
    };
    DoneFrame done{.outcome = text("outcome"),
                   .code = plain_code(text("code")),
                   .message = text("message"),
                   .result = {}};
    if (!parse_word<AttemptOutcome>(done.outcome)) done.outcome = "failed";
    const Json result = body.value("result", Json());
    if (result.is_object()) done.result = result.dump();
    // A job succeeds from `finishing`; left out where it is there already.
    if (done.outcome == "succeeded") {
        read.frame.state = store::RelayedState{.state = JobState::finishing};
    }
    read.done = std::move(done);
}

/// The files are where GET …/report looks for them: nothing is left to be done.
void translate_report(const Json&, ReadFrame&) {}

constexpr std::array<FrameRow, 9> rows{{{"state", translate_state},
                                        {"progress", translate_progress},
                                        {"metric", translate_metric},
                                        {"log", keep_event},
                                        {"checkpoint", translate_checkpoint},
                                        {"compile", keep_event},
                                        {"warning", keep_event},
                                        {"report", translate_report},
                                        {"done", translate_done}}};

ReadFrame unreadable(std::int64_t number, const std::string& why) {
    ReadFrame read;
    read.frame.number = number;
    const Json body{{"code", "bad_frame"},
                    {"message", "the executor said something that cannot be read: " + why}};
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
        const std::string type = body.at("type").get<std::string>();
        const auto row = std::ranges::find(rows, type, &FrameRow::type);
        if (row == rows.end()) return unreadable(read.frame.number, "type " + type);
        row->translate(body, read);
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

std::string FrameTail::read_lines() {
    if (!file_)
        file_ = UniqueFd(open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
    if (!file_) return {};
    std::string text(chunk_bytes, '\0');
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

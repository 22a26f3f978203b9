#include "api/protocol/frames.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/base/metric_value.h"
#include "api/protocol/members.h"
#include "api/spec/checkpoint_name.h"

// A frame is a line of JSON with a type. Whoever reads one does not trust the writer: names that
// become parts of paths are checked here, codes are words, counts have bounds. What an older
// executor calls by an older name is read too.
namespace slipway {

namespace {

Json frame_of(FrameType type) {
    return {{"type", to_string(type)}};
}

/// Names become parts of paths: anything that could lead elsewhere is refused.
void require_file_name(const std::string& name) {
    const bool plain = !name.empty() && name.size() <= 255 && name[0] != '.' &&
                       name.find_first_of(std::string_view("/\0", 2)) == std::string::npos;
    if (!plain)
        throw Error{ErrorCode::invalid_argument, "a file of a checkpoint has no plain name"};
}

void require_checkpoint_name(const std::string& name) {
    if (is_checkpoint_name(name)) return;
    throw Error{ErrorCode::invalid_argument, "a name of a checkpoint is not plain"};
}

Json to_json(const std::vector<CheckpointFrame::File>& files) {
    Json list = Json::array();
    for (const CheckpointFrame::File& file : files)
        list.push_back({{"name", file.name}, {"bytes", file.bytes}, {"sha256", file.sha256}});
    return list;
}

std::vector<CheckpointFrame::File> read_files(const Json& json) {
    std::vector<CheckpointFrame::File> files;
    std::int64_t bytes = 0;
    for (const Json& file : json) {
        files.push_back({.name = member<std::string>(file, "name"),
                         .bytes = whole_member(file, "bytes"),
                         .sha256 = member<std::string>(file, "sha256")});
        require_file_name(files.back().name);
        bytes += files.back().bytes;
        if (bytes > whole_max)
            throw Error{ErrorCode::invalid_argument, "a checkpoint has more than 2^53 bytes"};
    }
    return files;
}

std::vector<std::string> read_pruned(const Json& json) {
    // "drop" is the word of an executor that was started before the service was upgraded.
    const Json names = json.value("pruned", json.value("drop", Json::array()));
    auto pruned = names.get<std::vector<std::string>>();
    std::ranges::for_each(pruned, require_checkpoint_name);
    return pruned;
}

std::string text_of(const Json& json, const char* name) {
    const auto found = json.find(name);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// A code is a word: it goes into the job's reason, and people search for it.
std::string plain_code(std::string code) {
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789_";
    const bool plain = code.size() <= 64 && code.find_first_not_of(letters) == std::string::npos;
    return plain ? std::move(code) : "internal";
}

/// What Json itself finds wrong is the frame's fault.
template <class Read>
auto refusing(Read read) {
    try {
        return read();
    } catch (const Json::exception& error) {
        throw Error{ErrorCode::invalid_argument, error.what()};
    }
}

}    // namespace

std::int64_t CheckpointFrame::bytes() const {
    std::int64_t sum = 0;
    for (const CheckpointFrame::File& file : files)
        sum += file.bytes;
    return sum;
}

Json to_json(const StateFrame& frame) {
    Json json = frame_of(FrameType::state);
    json["state"] = to_string(frame.state);
    return json;
}

Json to_json(const ProgressFrame& frame) {
    Json json = frame_of(FrameType::progress);
    json["epoch"] = frame.epoch;
    json["epochs"] = frame.epochs;
    json["step"] = frame.step;
    json["steps_total"] = frame.steps_total;
    json["samples"] = frame.samples;
    json["samples_per_s"] = frame.samples_per_s;
    json["eta_s"] = frame.eta_s ? Json(*frame.eta_s) : Json();
    json["phase"] = frame.phase;
    return json;
}

Json to_json(const MetricFrame& frame) {
    Json json = frame_of(FrameType::metric);
    json["step"] = frame.step;
    json["epoch"] = frame.epoch;
    put_named_values(json, frame.values);
    return json;
}

Json to_json(const LogFrame& frame) {
    Json json = frame_of(FrameType::log);
    json["level"] = frame.level;
    json["message"] = frame.message;
    return json;
}

Json to_json(const WarningFrame& frame) {
    Json json = frame_of(FrameType::warning);
    json["code"] = frame.code;
    json["message"] = frame.message;
    return json;
}

Json to_json(const CompileFrame& frame) {
    Json json = frame_of(FrameType::compile);
    json["program"] = frame.program;
    json["hash"] = frame.hash;
    json["seconds"] = frame.seconds;
    json["cached"] = frame.cached;
    json["memory"] = {{"peak_bytes", frame.peak_bytes}};
    if (frame.cause) {
        json["after_warm_up"] = true;
        json["cause"] = *frame.cause;
    }
    return json;
}

Json to_json(const ReportFrame& frame) {
    Json json = frame_of(FrameType::report);
    json["step"] = frame.step;
    json["finished"] = frame.finished;
    json["verdict"] = frame.verdict;
    json["field"] = frame.field;
    json["message"] = frame.message;
    return json;
}

Json to_json(const CheckpointFrame& frame) {
    Json json = frame_of(FrameType::checkpoint);
    json["step"] = frame.step;
    json["epoch"] = frame.epoch;
    json["name"] = frame.name;
    json["kinds"] = frame.kinds;
    json["files"] = to_json(frame.files);
    json["pruned"] = frame.pruned;
    json["metric"] = nullptr;
    if (frame.metric) {
        json["metric"] = {{"name", frame.metric->first}};
        put_value(json["metric"], frame.metric->second);
    }
    if (frame.kept) json["kept"] = {{"last", frame.kept->last}, {"best", frame.kept->best}};
    if (frame.writer) json["written_by"] = to_json(*frame.writer);
    return json;
}

Json to_json(const DoneFrame& frame) {
    Json json = frame_of(FrameType::done);
    json["outcome"] = to_string(frame.outcome);
    json["code"] = frame.code.empty() ? Json() : Json(frame.code);
    json["message"] = frame.message;
    json["result"] = frame.result;
    return json;
}

StateFrame read_state_frame(const Json& json) {
    using enum JobState;
    const auto word = member<std::string>(json, "state");
    const auto state = parse_word<JobState>(word);
    if (state == compiling || state == running || state == finishing) return {.state = *state};
    throw Error{ErrorCode::invalid_argument, "an executor cannot enter the state " + word};
}

MetricFrame read_metric_frame(const Json& json) {
    return refusing([&] {
        MetricFrame frame{.step = whole_member(json, "step"),
                          .epoch = json.contains("epoch") ? whole_member(json, "epoch") : 0,
                          .values = {}};
        const Json nonfinite = json.value("nonfinite", Json());
        const auto values = member<Json::object_t>(json, "values");
        for (const auto& [name, value] : values)
            frame.values.emplace_back(name, read_named_value(value, nonfinite, name));
        return frame;
    });
}

CheckpointFrame read_checkpoint_frame(const Json& json) {
    return refusing([&] {
        CheckpointFrame frame{.step = whole_member(json, "step"),
                              .epoch = whole_member(json, "epoch"),
                              .name = member<std::string>(json, "name"),
                              .kinds = member<std::vector<std::string>>(json, "kinds"),
                              .files = read_files(member<Json>(json, "files")),
                              .pruned = read_pruned(json)};
        require_checkpoint_name(frame.name);
        if (const Json metric = json.value("metric", Json()); metric.is_object())
            frame.metric = {member<std::string>(metric, "name"), read_value(metric)};
        if (const Json kept = json.value("kept", Json()); kept.is_object()) {
            frame.kept = {.last = member<std::vector<std::string>>(kept, "last"),
                          .best = member<std::vector<std::string>>(kept, "best")};
        }
        frame.writer = read_checkpoint_writer(json.value("written_by", Json()));
        return frame;
    });
}

DoneFrame read_done_frame(const Json& json) {
    DoneFrame frame{
        .outcome =
            parse_word<AttemptOutcome>(text_of(json, "outcome")).value_or(AttemptOutcome::failed),
        .code = plain_code(text_of(json, "code")),
        .message = text_of(json, "message")};
    if (const auto result = json.find("result"); result != json.end() && result->is_object())
        frame.result = *result;
    return frame;
}

}    // namespace slipway

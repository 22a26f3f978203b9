// A checkpoint is a folder that is there whole or not at all: everything is written into NAME.tmp,
// each file is synced, then the folder, then it is renamed and the folder around it is synced.
// state.json is written last; it lists every other file with its size and SHA-256, and carries a
// checksum of its own. No file is ever changed afterwards, so readers need no lock.
//
// What the functions keep: a name that ends in .tmp is never read and is removed by the next
// pruning; a checkpoint is renamed to .tmp before it is removed, so a half-removed one does not
// look whole; what is loaded has been checked in full (sizes, checksums, format, plain file names,
// counts that some run can have had), and damage is an Error that names the checkpoint, never a
// crash. The newest whole checkpoint is found by step, then name; damaged ones are reported and
// passed over. Whether a checkpoint counts for the job is the service's business: a row in its
// database.

#include "executor/checkpoint/checkpoint.h"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <tuple>

#include "api/base/json.h"
#include "api/base/sha256.h"
#include "executor/checkpoint/durable_file.h"
#include "executor/tensor/parallel.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

constexpr const char* weights_file = "model.safetensors";
constexpr const char* optimizer_file = "optimizer.safetensors";
constexpr const char* state_file = "state.json";
constexpr std::int64_t state_bytes_max = 16 << 20;

/// state.json, once read: `state` is as trusted as its checksum makes it.
struct StateRecord {
    TrainingState state;
    std::vector<WrittenFile> files;
    CheckpointWriter writer{};
};

Error damaged(const fs::path& checkpoint, const std::string& message) {
    return {ErrorCode::data_loss,
            fmt::format("checkpoint {} is damaged: {}", checkpoint.filename().string(), message)};
}

Json to_json(const TrainingState& state) {
    return {{"step", state.step},
            {"epoch", state.epoch},
            {"samples", state.samples},
            {"seed", state.seed},
            {"sampler", {{"epoch", state.sampler_epoch}, {"batch", state.sampler_batch}}},
            {"schedule", {{"name", state.schedule}, {"learning_rate", state.learning_rate}}},
            {"details", Json::parse(state.details)}};
}

TrainingState state_from_json(const Json& json) {
    return {.step = json.at("step").get<std::int64_t>(),
            .epoch = json.at("epoch").get<std::int64_t>(),
            .samples = json.at("samples").get<std::int64_t>(),
            .seed = json.at("seed").get<std::uint64_t>(),
            .sampler_epoch = json.at("sampler").at("epoch").get<std::int64_t>(),
            .sampler_batch = json.at("sampler").at("batch").get<std::int64_t>(),
            .schedule = json.at("schedule").at("name").get<std::string>(),
            .learning_rate = json.at("schedule").at("learning_rate").get<double>(),
            .details = json.at("details").dump()};
}

/// A count below zero, or details of another kind, would be taken for a place in the data.
bool is_sound(const TrainingState& state) {
    const auto counts = {state.step, state.epoch, state.samples, state.sampler_epoch,
                         state.sampler_batch};
    return std::ranges::all_of(counts, [](std::int64_t count) { return count >= 0; }) &&
           state.details.starts_with('{');
}

/// Builds that did not say who they were wrote the first version of everything.
CheckpointWriter writer_of(const Json& content) {
    CheckpointWriter writer = read_checkpoint_writer(content.value("written_by", Json()))
                                  .value_or(CheckpointWriter{.spec_version = 1});
    writer.format = content.at("format_version").get<int>();
    return writer;
}

StateRecord record_from_json(const Json& content) {
    StateRecord record{.state = state_from_json(content.at("state")), .files = {}};
    for (const Json& file : content.at("files")) {
        record.files.push_back({file.at("name").get<std::string>(),
                                file.at("bytes").get<std::int64_t>(),
                                file.at("sha256").get<std::string>()});
    }
    return record;
}

/// {"content": {format_version, files, state, written_by}, "sha256": of the content's compact text}
void write_state(const fs::path& folder, const TrainingState& state, const CheckpointWriter& writer,
                 std::vector<WrittenFile>& files) {
    Json listed = Json::array();
    for (const WrittenFile& file : files) {
        listed.push_back({{"name", file.name}, {"bytes", file.bytes}, {"sha256", file.sha256}});
    }
    const Json content = {{"format_version", checkpoint_format_version},
                          {"files", std::move(listed)},
                          {"state", to_json(state)},
                          {"written_by", to_json(writer)}};
    const Json whole = {{"content", content}, {"sha256", sha256_hex(content.dump())}};
    const std::string text = whole.dump(2) + "\n";
    DurableFile file(folder / state_file);
    file.write(std::as_bytes(std::span(text)));
    files.push_back(file.finish());
}

/// Discarded when it is no JSON or deeper than anything we write: dump() recurses.
Json parse_shallow(const std::string& text) {
    constexpr int depth_max = 64;
    bool too_deep = false;
    const auto watch = [&](int depth, Json::parse_event_t /*event*/, Json& /*parsed*/) {
        too_deep = too_deep || depth > depth_max;
        return !too_deep;
    };
    Json json = Json::parse(text, watch, false);
    return too_deep ? Json(Json::value_t::discarded) : json;
}

Result<StateRecord> read_state(const fs::path& checkpoint) {
    std::error_code error;
    const auto size = fs::file_size(checkpoint / state_file, error);
    if (error) {
        return Error{ErrorCode::not_found, fmt::format("{} is not a checkpoint: {} is missing",
                                                       checkpoint.string(), state_file)};
    }
    if (size > state_bytes_max) return damaged(checkpoint, "state.json is too large");
    std::ifstream file(checkpoint / state_file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const Json whole = parse_shallow(text);
    if (whole.is_discarded() || !whole.is_object() || !whole.contains("content") ||
        !whole.contains("sha256")) {
        return damaged(checkpoint, "state.json cannot be read");
    }
    const Json& content = whole.at("content");
    try {
        if (whole.at("sha256") != sha256_hex(content.dump())) {
            return damaged(checkpoint, "state.json does not match its checksum");
        }
        const CheckpointWriter writer = writer_of(content);
        if (std::string why = incompatibility(writer, checkpoint.filename().string()); !why.empty())
            return Error{ErrorCode::invalid_argument, why};
        StateRecord record = record_from_json(content);
        record.writer = writer;
        if (!is_sound(record.state)) return damaged(checkpoint, "state.json has an invalid state");
        return record;
    } catch (const Json::exception& problem) {    // a missing or wrong field of a file from outside
        return damaged(checkpoint, fmt::format("state.json: {}", problem.what()));
    }
}

/// A name of a file in the checkpoint's own folder.
bool is_plain(const std::string& name) {
    return !name.empty() && name != "." && name != ".." && fs::path(name).filename() == name;
}

bool is_own(const std::string& name) {
    return name == weights_file || name == optimizer_file || name == state_file;
}

WrittenFile write_file(const fs::path& folder, const CheckpointFile& file) {
    check(is_plain(file.name) && !is_own(file.name), "a checkpoint's file has a name of its own");
    DurableFile written(folder / file.name);
    written.write(std::as_bytes(std::span(file.bytes)));
    return written.finish();
}

std::string read_file(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The first file that is missing or whose bytes are not those that were written.
std::optional<Error> find_damage(const fs::path& checkpoint, const StateRecord& record) {
    const auto named = [&](const char* name) {
        return std::any_of(record.files.begin(), record.files.end(),
                           [&](const WrittenFile& file) { return file.name == name; });
    };
    if (!named(weights_file) || !named(optimizer_file)) {
        return damaged(checkpoint, "state.json does not list its weights and its optimizer");
    }
    for (const WrittenFile& file : record.files) {
        if (!is_plain(file.name))
            return damaged(checkpoint, "state.json lists an invalid file name");
        std::error_code error;
        const auto size = fs::file_size(checkpoint / file.name, error);
        if (error) return damaged(checkpoint, file.name + " is missing");
        if (std::int64_t(size) != file.bytes) {
            return damaged(checkpoint, fmt::format("{} has {} bytes instead of {}", file.name, size,
                                                   file.bytes));
        }
        if (sha256_file(checkpoint / file.name) != file.sha256) {
            return damaged(checkpoint, file.name + " does not match its checksum");
        }
    }
    return std::nullopt;
}

/// Both files at once: a save takes as long as half of its bytes, and workers that meet at barriers
/// are all slowed alike, where one thread would slow one of them and the rest would wait for it.
std::vector<WrittenFile> write_numbers(const fs::path& folder, const Checkpoint& checkpoint) {
    std::vector<WrittenFile> files(2);
    parallel_for(2, 2, [&](std::int64_t number) {
        files[std::size_t(number)] =
            number == 0 ? write_safetensors(folder / weights_file, checkpoint.weights)
                        : write_safetensors(folder / optimizer_file, checkpoint.optimizer);
    });
    return files;
}

/// Makes `folder` and what is missing above it, each name on the disk.
void make_folder(const fs::path& folder, std::error_code& error) {
    if (folder.empty() || fs::exists(folder, error)) return;
    make_folder(folder.parent_path(), error);
    if (fs::create_directory(folder, error)) sync_folder(fs::absolute(folder).parent_path());
}

fs::path aside(const fs::path& folder, const std::string& name) {
    return folder / (name + ".tmp");
}

bool is_aside(const fs::path& path) {
    return path.extension() == ".tmp";
}

/// Removes a half-written folder, whatever happened.
struct Cleanup {
    fs::path path;
    ~Cleanup() {
        std::error_code ignored;    // what stays is named .tmp: never read, pruned later
        fs::remove_all(path, ignored);
    }
};

std::vector<fs::path> folders_in(const fs::path& folder) {
    std::vector<fs::path> folders;
    std::error_code error;    // a missing folder holds no checkpoints
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        if (!entry.is_symlink(error) && entry.is_directory(error)) folders.push_back(entry.path());
    }
    return folders;
}

}    // namespace

std::vector<WrittenFile> save_checkpoint(const fs::path& folder, const std::string& name,
                                         const Checkpoint& checkpoint) {
    const fs::path final = folder / name;
    if (fs::exists(final)) {
        throw Error{ErrorCode::conflict, fmt::format("checkpoint {} exists already", name)};
    }
    const Cleanup unfinished{aside(folder, name)};
    std::error_code error;
    fs::remove_all(unfinished.path, error);
    make_folder(folder, error);
    fs::create_directory(unfinished.path, error);
    if (!error) {
        std::vector<WrittenFile> files = write_numbers(unfinished.path, checkpoint);
        for (const CheckpointFile& file : checkpoint.files)
            files.push_back(write_file(unfinished.path, file));
        write_state(unfinished.path, checkpoint.state, checkpoint.writer, files);
        sync_folder(unfinished.path);
        fs::rename(unfinished.path, final, error);
        if (!error) {
            sync_folder(folder);
            return files;
        }
    }
    const bool full = error == std::errc::no_space_on_device;
    throw Error{full ? ErrorCode::exhausted : ErrorCode::unavailable,
                fmt::format("checkpoint {} cannot be saved: {}", name,
                            full ? "the disk is full" : error.message())};
}

Result<Checkpoint> load_checkpoint(const fs::path& checkpoint) {
    const Result<StateRecord> record = read_state(checkpoint);
    if (!record) return record.error();
    if (const auto damage = find_damage(checkpoint, *record)) return *damage;
    Result<Safetensors> weights = read_safetensors(checkpoint / weights_file);
    if (!weights) return damaged(checkpoint, weights.error().what());
    Result<Safetensors> optimizer = read_safetensors(checkpoint / optimizer_file);
    if (!optimizer) return damaged(checkpoint, optimizer.error().what());
    Checkpoint loaded{.state = record->state,
                      .weights = std::move(weights).value().tensors,
                      .optimizer = std::move(optimizer).value().tensors};
    for (const WrittenFile& file : record->files) {
        if (!is_own(file.name))
            loaded.files.push_back({file.name, read_file(checkpoint / file.name)});
    }
    loaded.writer = record->writer;
    return loaded;
}

Result<TrainingState> load_training_state(const fs::path& checkpoint) {
    Result<StateRecord> record = read_state(checkpoint);
    if (!record) return record.error();
    return std::move(record).value().state;
}

NewestCheckpoint find_newest_checkpoint(const fs::path& folder) {
    NewestCheckpoint newest;
    std::vector<std::tuple<std::int64_t, std::string, StateRecord>> found;
    for (const fs::path& path : folders_in(folder)) {
        if (is_aside(path)) continue;
        const Result<StateRecord> record = read_state(path);
        if (record) {
            found.emplace_back(record->state.step, path.filename().string(), *record);
        } else if (record.error().code() != ErrorCode::not_found) {
            newest.damaged.emplace_back(record.error().what());
        }
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
        return std::tie(std::get<0>(b), std::get<1>(b)) < std::tie(std::get<0>(a), std::get<1>(a));
    });
    for (const auto& [step, name, record] : found) {
        const std::optional<Error> damage = find_damage(folder / name, record);
        if (!damage) {
            newest.whole = folder / name;
            break;
        }
        newest.damaged.emplace_back(damage->what());
    }
    return newest;
}

std::optional<fs::path> newest_checkpoint(const fs::path& folder) {
    return find_newest_checkpoint(folder).whole;
}

std::vector<std::string> prune_checkpoints(const fs::path& folder,
                                           std::span<const std::string> keep) {
    std::vector<std::string> removed;
    std::error_code error;    // what cannot be removed now is removed by the next call
    for (const fs::path& path : folders_in(folder)) {
        const std::string name = path.filename().string();
        if (is_aside(path)) {
            fs::remove_all(path, error);
            continue;
        }
        const bool kept = std::find(keep.begin(), keep.end(), name) != keep.end();
        if (kept || !fs::exists(path / state_file)) continue;
        fs::rename(path, aside(folder, name), error);    // half removed, it must not look whole
        if (error) continue;
        fs::remove_all(aside(folder, name), error);
        removed.push_back(name);
    }
    std::sort(removed.begin(), removed.end());
    return removed;
}

}    // namespace slipway

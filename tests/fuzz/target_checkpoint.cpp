#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "api/base/check.h"
#include "api/base/sha256.h"
#include "executor/checkpoint/checkpoint.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"
#include "tests/support/temp_folder.h"

namespace slipway {

namespace {

/// As state.json holds it, the checksum right; as it is when that is not JSON, or so deep that
/// writing it takes more stack than there is.
std::string with_checksum(const std::string& content) {
    constexpr int depth_max = 200;
    bool is_deep = false;
    const auto watch = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
        is_deep = is_deep || depth > depth_max;
        return !is_deep;
    };
    const auto json = nlohmann::json::parse(content, watch, false);
    if (json.is_discarded() || is_deep) return content;
    const nlohmann::json::error_handler_t keep = nlohmann::json::error_handler_t::ignore;
    const std::string sum = sha256_hex(json.dump(-1, ' ', false, keep));
    return nlohmann::json{{"content", json}, {"sha256", sum}}.dump(-1, ' ', false, keep);
}

}    // namespace

std::string run_checkpoint(std::span<const std::byte> input) {
    const TempFolder folder;
    const std::string no_tensors("\2\0\0\0\0\0\0\0{}", 10);
    folder.write("step_1/model.safetensors", no_tensors);
    folder.write("step_1/optimizer.safetensors", no_tensors);
    folder.write("step_1/tokenizer_spec.json", "{}");
    folder.write("step_1/state.json", with_checksum(text_of(input)));
    const auto newest = newest_checkpoint(folder.path());
    const Result<Checkpoint> read = load_checkpoint(folder.path() / "step_1");
    if (!read) {
        check(!newest, "a damaged checkpoint is no newest one");
        check(read.error().code() != ErrorCode::internal, "a file is never our fault");
        return read.error().what();
    }
    check(newest.has_value(), "a whole checkpoint can be the newest one");
    Checkpoint again = *read;
    save_checkpoint(folder.path(), "again", again);
    const Result<Checkpoint> reread = load_checkpoint(folder.path() / "again");
    check(bool(reread), "a checkpoint that was read can be written");
    check(reread->state.step == read->state.step && reread->files.size() == read->files.size(),
          "it is written as it was read");
    return fmt::format("step {}, {} files more", read->state.step, read->files.size());
}

}    // namespace slipway

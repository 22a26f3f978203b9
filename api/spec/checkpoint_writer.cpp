#include "api/spec/checkpoint_writer.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace slipway {
namespace {

constexpr std::size_t text_bytes_max = 200;

std::optional<std::string> text_member(const Json& json, const char* name) {
    const auto found = json.find(name);
    if (found == json.end() || !found->is_string()) return std::nullopt;
    return found->get<std::string>().substr(0, text_bytes_max);
}

std::optional<int> version_member(const Json& json, const char* name) {
    constexpr int version_max = 1'000'000;
    const auto found = json.find(name);
    if (found == json.end() || !found->is_number_integer()) return std::nullopt;
    const auto version = found->get<std::int64_t>();
    if (version < 1 || version > version_max) return std::nullopt;
    return static_cast<int>(version);
}

std::string outside(std::string_view what, int version, int oldest, int newest) {
    if (version >= oldest && version <= newest) return {};
    const std::string read =
        oldest == newest ? fmt::to_string(newest) : fmt::format("{} to {}", oldest, newest);
    return fmt::format("{} {}, and this build reads {}", what, version, read);
}

}    // namespace

Json to_json(const CheckpointWriter& writer) {
    return {{"program", writer.program},
            {"build", writer.build},
            {"format", writer.format},
            {"spec_version", writer.spec_version},
            {"instruction_set", writer.instruction_set}};
}

std::optional<CheckpointWriter> read_checkpoint_writer(const Json& json) {
    if (!json.is_object()) return std::nullopt;
    const auto program = text_member(json, "program");
    const auto build = text_member(json, "build");
    const auto format = version_member(json, "format");
    const auto spec_version = version_member(json, "spec_version");
    if (!program || !build || !format || !spec_version) return std::nullopt;
    // Of builds that did not say: none.
    const auto instruction_set = text_member(json, "instruction_set");
    return CheckpointWriter{.program = *program,
                            .build = *build,
                            .format = *format,
                            .spec_version = *spec_version,
                            .instruction_set = instruction_set.value_or("")};
}

std::string other_instruction_set(const CheckpointWriter& writer, std::string_view checkpoint,
                                  std::string_view ours) {
    if (writer.instruction_set.empty() || writer.instruction_set == ours) return {};
    return fmt::format(
        "checkpoint {} was computed with {}, and this host computes with {}: the last digits of "
        "weights and metrics will differ from those of a run on one kind of processor",
        checkpoint, writer.instruction_set, ours);
}

std::string incompatibility(const CheckpointWriter& writer, std::string_view checkpoint) {
    std::string why =
        outside("has format", writer.format, checkpoint_format_oldest, checkpoint_format_version);
    if (why.empty())
        why = outside("is of a job spec of version", writer.spec_version, job_spec_oldest,
                      job_spec_version);
    if (why.empty()) return {};
    const std::string by =
        writer.program.empty() ? "" : fmt::format(" (written by {})", writer.program);
    return fmt::format("checkpoint {}{} {}; use a build that reads it", checkpoint, by, why);
}

}    // namespace slipway

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/base/json.h"

namespace slipway {

/// The form of a checkpoint's files that this build writes, and the oldest one that it reads. A
/// change that an older build would misread counts it up.
inline constexpr int checkpoint_format_version = 1;
inline constexpr int checkpoint_format_oldest = 1;

/// The meaning of a job spec, likewise: of a field that an older build would run differently.
inline constexpr int job_spec_version = 1;
inline constexpr int job_spec_oldest = 1;

/// Which build wrote a checkpoint, and in what form: in its state.json, its row and its answer.
struct CheckpointWriter {
    std::string program{};    ///< "slipway-executor 0.1.0"
    std::string build{};      ///< the linker's mark of the program file
    int format = checkpoint_format_version;
    int spec_version = job_spec_version;
    std::string instruction_set{};    ///< that it was computed with; empty: it is not known
    bool operator==(const CheckpointWriter&) const = default;
};

Json to_json(const CheckpointWriter& writer);

/// What a file or a frame says, which is not believed: texts are cut at 200 bytes. None when it is
/// no writer (null: of a build that did not say).
std::optional<CheckpointWriter> read_checkpoint_writer(const Json& json);

/// Why numbers that are computed from here on may differ in their last bits from those of the
/// writer, in words; empty: they do not, or it is not known. `ours` is the instruction set here.
std::string other_instruction_set(const CheckpointWriter& writer, std::string_view checkpoint,
                                  std::string_view ours);

/// Why this build cannot go on from a checkpoint; empty: it can. `checkpoint` is what the reader
/// knows it by.
std::string incompatibility(const CheckpointWriter& writer, std::string_view checkpoint);

}    // namespace slipway

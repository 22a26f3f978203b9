#pragma once

#include <filesystem>

#include "executor/checkpoint/safetensors.h"

namespace slipway {

struct ExportOptions {
    DType dtype = DType::f32;    ///< of numbers: f32 or bf16, rounded to the nearest; counts stay
    /// Where a job keeps a moving average: the weights that training continues with instead of it.
    bool raw = false;
};

/// Writes a checkpoint's weights as one safetensors file that other frameworks load whole
/// (load_state_dict(strict=True)): every tensor by its reference's name, buffers and counts with
/// them, tied ones under each of their names, "format": "pt" in the metadata. The same checkpoint
/// and options give the same bytes.
/// errors  throws what load_checkpoint gives and what write_safetensors throws
WrittenFile export_weights(const std::filesystem::path& checkpoint,
                           const std::filesystem::path& file, const ExportOptions& options);

}    // namespace slipway

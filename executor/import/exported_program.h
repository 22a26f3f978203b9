#pragma once

#include <filesystem>
#include <vector>

#include "executor/checkpoint/safetensors.h"
#include "executor/import/network.h"

namespace slipway::importer {

/// What torch.export.save has written (.pt2, schema 8): the graph before decomposition, and the
/// values of parameters, buffers and constants by the names of the state dict. 16-bit floating
/// values are widened to f32, f64 ones narrowed, small integers widened to i64.
struct ExportedProgram {
    Network network;
    std::vector<NamedArray> values;    ///< in the order of the network's inputs
};

struct ReadLimits {
    std::int64_t program_bytes_max = std::int64_t{64} << 20;    ///< of the graph's JSON
    std::int64_t values_bytes_max = std::int64_t{32} << 30;     ///< of all values together
};

/// Reads a file from anywhere: nothing in it is believed. No Python object in it is unpickled.
/// errors  not_found; invalid_argument that names the place in the file, what is wrong, and for a
///         file that was exported in another way the argument of the exporter that helps
ExportedProgram read_exported_program(const std::filesystem::path& path,
                                      const ReadLimits& limits = {});

}    // namespace slipway::importer

#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "api/base/result.h"
#include "executor/tensor/array.h"

namespace slipway {

struct NamedArray {
    std::string name;
    Array array;
};

/// A file of named tensors (https://github.com/huggingface/safetensors): u64 length of the header,
/// the header as JSON, the tensors' bytes.
struct Safetensors {
    std::vector<NamedArray> tensors;                ///< in the order of their bytes
    std::map<std::string, std::string> metadata;    ///< "__metadata__"
    /// Tensors of element types that arrays do not have, with type and dimensions: "I16[2,3]".
    std::map<std::string, std::string> unread = {};
};

struct WrittenFile {
    std::string name;
    std::int64_t bytes = 0;
    std::string sha256;
};

/// Writes and syncs `path` (replaced if it exists). The header is padded so that the tensors'
/// bytes begin at a multiple of 64; each tensor begins where the one before ends, so element types
/// of more than one size are written largest first. The same tensors give the same bytes.
/// errors  throws exhausted when the disk is full (nothing is left at `path`), else unavailable
WrittenFile write_safetensors(const std::filesystem::path& path,
                              std::span<const NamedArray> tensors,
                              const std::map<std::string, std::string>& metadata = {});

/// Reads a file from anywhere: nothing in it is believed. At most 16 MiB of header; every offset
/// checked against the file, the shape and the other tensors; no hole, no overlap, no duplicate.
/// Element types: F32, F64, BF16, I32, I64, U8, BOOL; F16 is widened to f32. Tensors of others are
/// `unread`.
/// errors  data_loss naming file, tensor and what is wrong; not_found; exhausted over `bytes_max`
Result<Safetensors> read_safetensors(const std::filesystem::path& path,
                                     std::int64_t bytes_max = std::int64_t{32} << 30);

}    // namespace slipway

#pragma once

#include <cstdint>
#include <vector>

#include "executor/checkpoint/safetensors.h"
#include "executor/import/exported_program/archive.h"
#include "executor/import/network.h"

namespace slipway::importer {

/// The values of a network's parameters, buffers and constants, in the order of its inputs. Fills
/// in which of them are one tensor (NetworkInput::shares).
/// errors  invalid_argument when a value is absent, shorter than said or of another shape;
///         exhausted when all together are larger than `bytes_max`
std::vector<NamedArray> read_values(const ArchiveMembers& members,
                                    const ArchiveDocuments& documents, Network& network,
                                    std::int64_t bytes_max);

}    // namespace slipway::importer

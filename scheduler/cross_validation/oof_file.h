#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "scheduler/store/cross_validations.h"

namespace slipway {

/// The predictions of one fold's validation samples, as a job of kind predict writes them: the
/// first column is the number of the sample, ascending.
struct OofPart {
    std::int64_t fold = 0;
    std::int64_t repeat = 0;
    std::filesystem::path file;
};

/// Merges the predictions of all folds into `out`, written aside first: by sample, and by repeat
/// where `with_repeat`; the columns `fold` and, where asked for, `repeat` come after `sample`. A
/// sample is there once in each repeat, or never. Memory does not depend on the number of rows.
/// errors  not_found when a part is not there; conflict when parts have different columns or one
///         sample twice; exhausted, unavailable when it cannot be written
store::OofFile write_oof(const std::vector<OofPart>& parts, const std::filesystem::path& out,
                         bool with_repeat);

}    // namespace slipway

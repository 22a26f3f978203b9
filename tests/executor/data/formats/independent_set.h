#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "executor/data/dataset.h"
#include "tests/support/temp_folder.h"

namespace slipway {

/// A dataset that `make_sets.py` has written and read back with Python's own readers.
struct IndependentSet {
    TempFolder folder;
    bool possible =
        false;    ///< false: this machine lacks what the script needs, which it has said
    std::vector<std::string> lines;    ///< per sample: "PART CLASS HASH", as describe() says it

    explicit IndependentSet(const std::string& kind);
};

/// "PART CLASS HASH" of a sample. HASH is the SHA-256 of its features: as bytes (`scaled`: they
/// were bytes / 255), else as little-endian floats.
std::string describe(const Dataset& dataset, std::int64_t sample, bool scaled);

/// Every line of `set` is what `dataset` reads, in the same order, exactly.
void expect_same(const IndependentSet& set, const Dataset& dataset, bool scaled);

}    // namespace slipway

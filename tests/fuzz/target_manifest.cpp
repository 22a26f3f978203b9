#include <fmt/core.h>

#include "api/base/check.h"
#include "api/base/error.h"
#include "executor/data/split/manifest.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"

namespace slipway {

std::string run_manifest(std::span<const std::byte> input) {
    try {
        const SplitManifest read = parse_manifest(text_of(input));
        check(parse_manifest(write_manifest(read)) == read, "it is written as it was read");
        for (std::int64_t fold = 0; fold < read.folds.count; ++fold) {
            const Split split = split_of_fold(read.folds, fold);
            check(split.train.size() + split.val.size() <= read.folds.validates_in[0].size(),
                  "a sample is on one side");
        }
        return fmt::format("{} folds of {} samples", read.folds.count,
                           read.folds.validates_in[0].size());
    } catch (const Error& error) {
        check(error.code() != ErrorCode::internal, "a file is never our fault");
        return error.what();
    }
}

}    // namespace slipway

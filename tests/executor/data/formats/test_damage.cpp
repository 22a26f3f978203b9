// Goal: no file, however damaged, does more than give an error.
// Method: small good files with bytes changed, cut out, doubled and cut off, drawn from fixed
// seeds; opened as training does and as an inspection does, every sample read. What must not happen
// is found by the address sanitizer, or is an exception that is no Error.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "executor/data/inspect.h"
#include "executor/tensor/random.h"
#include "tests/executor/data/make_files.h"
#include "tests/support/temp_folder.h"

namespace slipway {

namespace {

constexpr int rounds = 250;

std::string damaged(std::string file, RandomStream& random) {
    const std::uint64_t changes = 1 + random.next_below(4);
    for (std::uint64_t i = 0; i < changes && !file.empty(); ++i) {
        const std::size_t at = random.next_below(file.size());
        const std::size_t length =
            1 + random.next_below(std::min<std::size_t>(16, file.size() - at));
        switch (random.next_below(5)) {
            case 0:
                file[at] = char(random.next_u32());
                break;
            case 1:
                file[at] = char(file[at] ^ 1 << random.next_below(8));
                break;
            case 2:
                file.erase(at, length);
                break;
            case 3:
                file.insert(at, file.substr(at, length));
                break;
            default:
                file.resize(at);
        }
    }
    return file;
}

/// How many of the damaged files could still be used as a whole.
int survivors(const std::string& format, const std::string& name, const std::string& good) {
    int usable = 0;
    for (int round = 0; round < rounds; ++round) {
        RandomStream random(2026, site_bench, std::uint64_t(round));
        const TempFolder folder;
        folder.write(name, round == 0 ? good : damaged(good, random));
        const nlohmann::json report = inspect_dataset(format, folder.path(), {}, 1);
        const bool clean = report["problem_count"] == 0;
        try {
            const auto dataset = open_dataset(format, folder.path());
            std::vector<float> features(std::size_t(dataset->index().feature_count()));
            for (std::int64_t i = 0; i < dataset->size(); ++i)
                dataset->read(i, features);
            ++usable;
            EXPECT_TRUE(clean) << round << report.dump();
        } catch (const Error& error) {    // the allowed end; anything else fails the test
            EXPECT_FALSE(clean) << round << ": " << error.what();
        }
    }
    return usable;
}

}    // namespace

TEST(Damage, cifar10_batches) {
    std::string file;
    for (int label : {1, 2, 9})
        file += char(label) + std::string(3072, char(label));
    const int usable = survivors("cifar10", "data_batch_1.bin", file);
    EXPECT_GT(usable, 1);    // pixels of any value are fine
    EXPECT_LT(usable, rounds);
    survivors("cifar10", "data_batch_1.bin.gz", gzipped(file));
}

}    // namespace slipway

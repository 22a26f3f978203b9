// Goal: no file, however damaged, does more than give an error.
// Method: small good files with bytes changed, cut out, doubled and cut off, drawn from fixed
// seeds; opened as training does and as an inspection does, every sample read. What must not happen
// is found by the address sanitizer, or is an exception that is no Error.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "executor/data/formats/example.h"
#include "executor/data/inspect.h"
#include "executor/tensor/random.h"
#include "tests/executor/data/formats/make_npz.h"
#include "tests/executor/data/formats/make_records.h"
#include "tests/executor/data/formats/make_tar.h"
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

// A changed byte is found by a checksum: only what is cut off between two records passes.
TEST(Damage, records_of_numbers_and_of_images) {
    std::string numbers, images;
    for (int i = 0; i < 6; ++i) {
        numbers += framed(example({{"label", ints({i % 2})}, {"x", floats({0.5F, float(i)})}}));
        images += framed(example({{"label", texts({i % 2 == 0 ? "a" : "b"})},
                                  {"image", texts({png_file(patterned_image(1, 4, 4, i))})}}));
    }
    EXPECT_LT(survivors("tfrecord", "a.tfrecord", numbers), rounds / 8);
    EXPECT_LT(survivors("tfrecord", "a.tfrecord", images), rounds / 8);
    EXPECT_LT(survivors("tfrecord", "a.tfrecord.gz", gzipped(images)), rounds / 8);
}

// Records whose sums are right and whose insides are not: the reader of messages alone.
TEST(Damage, messages_with_good_checksums) {
    const std::string good = example({{"label", ints({1})},
                                      {"x", floats({0.5F, 2})},
                                      {"image", texts({png_file(patterned_image(1, 4, 4, 1))})}});
    for (int round = 0; round < 3000; ++round) {
        RandomStream random(2027, site_bench, std::uint64_t(round));
        const std::string bad = damaged(good, random);
        const auto read = read_example(as_bytes(bad));
        EXPECT_TRUE(read || std::string(read.error().what()).find("at byte") != std::string::npos);
    }
    const TempFolder folder;
    for (int round = 0; round < 400; ++round) {
        RandomStream random(2028, site_bench, std::uint64_t(round));
        folder.write("a.tfrecord", framed(good) + framed(damaged(good, random)));
        for (const char* columns : {"{}", R"({"feature_columns": ["x"]})"}) {
            const auto report =
                inspect_dataset("tfrecord", folder.path(),
                                parse_dataset_options(nlohmann::json::parse(columns)), 1);
            EXPECT_GE(report["samples"], 1) << round << report.dump();
            EXPECT_TRUE(report["problem_count"] == 0 || report["problems"][0]["row"] == 2) << round;
        }
    }
}

// Each member has a checksum; the directory at the end has none.
TEST(Damage, archives_of_arrays) {
    const auto x = npy_file("|u1", "(4, 2, 2)", "abcdefghijklmnop");
    const auto y = npy_file("<i4", "(4,)", integers({0, 1, 0, 1}, 4));
    const int usable = survivors("npz", "a.npz", npz_file({{"x", x}, {"y", y}}, false));
    EXPECT_GT(usable, 1);    // dates and the like
    EXPECT_LT(usable, rounds);
    EXPECT_LT(survivors("npz", "a.npz", npz_file({{"x", x}, {"y", y}})), rounds);
}

// A tar has checksums of its headers alone: damage inside a member is left to the image's reader.
TEST(Damage, tar_files_of_images) {
    std::vector<TarMember> members;
    for (int i = 0; i < 4; ++i) {
        members.push_back({std::to_string(i) + ".png", png_file(patterned_image(1, 4, 4, i))});
        members.push_back({std::to_string(i) + ".cls", std::to_string(i % 2)});
    }
    const std::string tar = tar_file(members);
    EXPECT_GT(survivors("webdataset", "a.tar", tar), 1);    // padding
    EXPECT_LT(survivors("webdataset", "a.tar", tar), rounds);
    EXPECT_LT(survivors("webdataset", "a.tar.gz", gzipped(tar)), rounds / 4);
}

}    // namespace slipway

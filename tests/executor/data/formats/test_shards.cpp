#include "executor/data/formats/shards.h"

#include <gtest/gtest.h>

#include "tests/executor/data/make_files.h"
#include "tests/support/temp_folder.h"

namespace slipway {

TEST(Shards, a_part_is_what_the_name_says_without_ending_and_number) {
    const std::vector<std::pair<std::string, std::string>> parts = {
        {"data_batch_3.bin", "train"},
        {"test_batch.bin.gz", "test"},
        {"train-00017-of-00128", "train"},
        {"train-00017-of-00128.tfrecord", "train"},
        {"mnist-val.tfrecord-00000-of-00001", "mnist-val"},
        {"val.tfrecords.gz", "val"},
        {"train/0017.tar", "train"},
        {"deep/train_1.tar.gz", "deep/train"},
        {"0017.tar", "all"},
        {"set.tgz", "set"},
        {"train-1.npz", "train"},
        {"..", "all"},
        {"-of", "all"},
        {"data", "data"},
        {"Train-1.TAR.GZ", "Train"},
    };
    for (const auto& [name, part] : parts)
        EXPECT_EQ(part_of_shard(name), part) << name;
}

TEST(Shards, files_are_found_by_name_and_one_alone_by_being_there) {
    const auto is_tar = [](std::string_view name) { return name.ends_with(".tar"); };
    const TempFolder folder;
    folder.write("set/b.tar", "");
    folder.write("set/a-2.tar", "");
    folder.write("set/a-1.tar", "");
    folder.write("set/notes.txt", "");
    folder.write("set/C.TAR", "");
    const Shards shards = find_shards(folder.path() / "set", is_tar, "tar");
    EXPECT_EQ(shards.files, (std::vector<std::string>{"C.TAR", "a-1.tar", "a-2.tar", "b.tar"}));
    EXPECT_EQ(shards.part_names, (std::vector<std::string>{"C", "a", "b"}));
    EXPECT_EQ(shards.parts, (std::vector<std::int32_t>{0, 1, 1, 2}));

    EXPECT_EQ(find_shards(folder.write("alone/upload", "").parent_path(), is_tar, "tar").files,
              std::vector<std::string>{"upload"});
    EXPECT_EQ(find_shards(folder.path() / "set/notes.txt", is_tar, "tar").files,
              std::vector<std::string>{"notes.txt"});
    folder.write("none/x", "");
    folder.write("none/y", "");
    EXPECT_EQ(data_problem_of([&] { find_shards(folder.path() / "none", is_tar, "tar"); }).message,
              "the folder has no tar");
    EXPECT_EQ(error_code_of([&] { find_shards(folder.path() / "absent", is_tar, "tar"); }),
              ErrorCode::not_found);
}

// Goal: a file beside its own gzipped one is refused in every format; its samples would count
// twice, and be in both training and validation.
TEST(Shards, a_file_beside_its_gzipped_one_is_refused) {
    const auto is_any = [](std::string_view) { return true; };
    for (const auto& [plain, gzipped] :
         {std::pair("train.tfrecord", "train.tfrecord.gz"), std::pair("a.tar", "a.tar.gz"),
          std::pair("a.tar", "a.tgz"), std::pair("a.tar.gz", "a.TGZ"),
          std::pair("x/1.bin", "x/1.bin.gz")}) {
        const TempFolder folder;
        folder.write(plain, "");
        folder.write("other.tar", "");
        folder.write(gzipped, "");
        EXPECT_TRUE(says(data_problem_of([&] { find_shards(folder.path(), is_any, "file"); }),
                         "is the same part"))
            << plain;
    }
    const TempFolder shards;
    for (const char* name : {"train-1.tar.gz", "train-2.tar", "train.tar"})
        shards.write(name, "");
    EXPECT_EQ(find_shards(shards.path(), is_any, "file").files.size(), 3U);
}

}    // namespace slipway

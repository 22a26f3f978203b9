// Goal: tar files of images beside their labels are read as Python's tarfile reads them, and a bad
// sample is named with its shard, its number and the member.
#include <gtest/gtest.h>

#include "executor/data/dataset.h"
#include "tests/executor/data/formats/independent_set.h"
#include "tests/executor/data/formats/make_tar.h"
#include "tests/executor/data/make_files.h"

namespace slipway {

namespace {

std::string picture(int seed) {
    return png_file(patterned_image(3, 4, 5, seed));
}

/// Two samples.
struct SmallSet {
    TempFolder folder;
    std::vector<TarMember> members = {
        {"0.png", picture(0)}, {"0.cls", "cat\n"}, {"1.cls", "dog"}, {"1.PNG", picture(1)}};

    std::unique_ptr<Dataset> open(const DatasetOptions& options = {}) const {
        folder.write("train-0.tar", tar_file(members));
        return open_dataset("webdataset", folder.path(), options);
    }
    DataProblem problem(const DatasetOptions& options = {}) const {
        return data_problem_of([&] { open(options); });
    }
};

}    // namespace

TEST(Webdataset, ten_thousand_samples_as_python_reads_them) {
    const IndependentSet set("webdataset");
    ASSERT_TRUE(set.possible);
    ASSERT_EQ(set.lines.size(), 10'000U);
    const auto dataset = open_dataset("webdataset", set.folder.path() / "set");
    expect_same(set, *dataset, true);
    EXPECT_EQ(dataset->files().size(), 4U);
}

TEST(Webdataset, a_sample_is_an_image_beside_its_label) {
    SmallSet set;
    set.members.push_back({"2.jpg", jpeg_file(patterned_image(3, 4, 5, 2))});
    set.members.push_back({"2.txt", "a caption"});
    set.members.push_back({"2.cls", "cat"});
    set.members.push_back({"README", "no sample"});
    set.members.push_back({"._3.png", "no sample"});
    set.members.push_back({"folder.png", "", '5'});
    const auto dataset = set.open();
    EXPECT_EQ(dataset->size(), 3);
    EXPECT_EQ(dataset->index().feature_dims, (Dims{3, 4, 5}));
    EXPECT_EQ(dataset->index().class_names, (std::vector<std::string>{"cat", "dog"}));
    EXPECT_EQ(dataset->index().labels, (std::vector<std::int32_t>{0, 1, 0}));
    EXPECT_EQ(dataset->index().part_names, std::vector<std::string>{"train"});
    EXPECT_EQ(features_of(*dataset, 1)[1], float(patterned_image(3, 4, 5, 1).pixels[3]) / 255.0F);
    const DataProblem place = dataset->place(1);
    EXPECT_EQ(place.file, "train-0.tar");
    EXPECT_EQ(place.row, 2);
    EXPECT_EQ(place.field, "1.PNG");
    EXPECT_EQ(features_of(*set.open({.image_size = 2, .channels = 1}), 2).size(), 4U);
}

TEST(Webdataset, gzipped_shards_and_shards_of_several_parts) {
    const SmallSet set;
    set.folder.write("val/0.tar.gz", gzipped(tar_file(set.members)));
    set.folder.write("val/1.tgz", gzipped(tar_file(set.members)));
    const auto dataset = set.open();
    EXPECT_EQ(dataset->size(), 6);
    EXPECT_EQ(dataset->index().part_names, (std::vector<std::string>{"train", "val"}));
    EXPECT_EQ(dataset->index().parts, (std::vector<std::int32_t>{0, 0, 1, 1, 1, 1}));
    for (std::int64_t sample = 2; sample < 6; ++sample)
        EXPECT_EQ(features_of(*dataset, sample), features_of(*dataset, sample % 2));
}

TEST(Webdataset, a_label_is_a_name_or_a_place_among_the_names) {
    SmallSet set;
    EXPECT_EQ(set.open({.class_names = {"dog", "cat"}})->label(0), 1);
    const DataProblem problem = set.problem({.class_names = {"dog", "bird"}});
    EXPECT_EQ(problem.row, 1);
    EXPECT_EQ(problem.field, "0.cls");
    EXPECT_TRUE(says(problem, "\"cat\" is neither")) << problem.message;
    set.members[1].content = " 1\r\n";
    EXPECT_EQ(set.open({.class_names = {"bird", "dog"}})->label(0), 1);
}

TEST(Webdataset, a_bad_sample_is_named_with_its_member) {
    struct Case {
        std::vector<TarMember> members;
        std::string field, words;
    };
    const std::vector<Case> cases = {
        {{{"2.png", picture(2)}}, "2", "no .cls; it has .png"},
        {{{"2.cls", "cat"}, {"2.webp", "x"}}, "2", "no .jpg, .jpeg or .png; it has .cls, .webp"},
        {{{"2.png", picture(2)}, {"2.png", picture(2)}, {"2.cls", "cat"}}, "2.png", "twice"},
        {{{"2.png", picture(2)}, {"2.jpg", picture(2)}, {"2.cls", "cat"}}, "2.jpg", "\"2.png\""},
        {{{"2.png", picture(2)}, {"2.cls", " \n"}}, "2.cls", "empty"},
        {{{"2.png", picture(2)}, {"2.cls", "\xC3("}}, "2.cls", "UTF-8"},
        {{{"2.png", picture(2)}, {"2.cls", std::string(5000, 'x')}}, "2.cls", "5000 bytes"},
        {{{"0.png", picture(2)}, {"0.cls", "cat"}}, "0.png", "occurs again"},
        {{{".//0.png", picture(2)}, {"0.cls", "cat"}}, ".//0.png", "occurs again"},
    };
    for (const Case& c : cases) {
        SmallSet set;
        set.members.insert(set.members.end(), c.members.begin(), c.members.end());
        const DataProblem problem = set.problem();
        EXPECT_EQ(problem.file, "train-0.tar");
        EXPECT_EQ(problem.row, 3) << problem.message;
        EXPECT_EQ(problem.field, c.field) << problem.message;
        EXPECT_TRUE(says(problem, c.words)) << problem.message;
    }
    for (const char type : {'1', '2', '3', '6'}) {
        SmallSet set;
        set.members.push_back({"2.png", "", type});
        EXPECT_EQ(set.problem().field, "2.png") << type;
    }
}

TEST(Webdataset, a_damaged_image_is_named) {
    SmallSet set;
    set.members[3].content.resize(60);
    const auto dataset = set.open();
    const DataProblem problem = data_problem_of([&] { features_of(*dataset, 1); });
    EXPECT_EQ(problem.row, 2);
    EXPECT_EQ(problem.field, "1.PNG");
    set.members[0].content = "";    // the first is looked at when opening
    EXPECT_EQ(set.problem().field, "0.png");
}

// Whole members are left when a tar is cut between them: nothing in a tar says how many there are.
TEST(Webdataset, every_cut_inside_a_member_is_named) {
    const SmallSet set;
    const std::string whole = tar_file(set.members);
    const std::size_t end = whole.size() - 1024;    // two empty blocks
    for (std::size_t length = 1; length < end; length += 7) {
        set.folder.write("train-0.tar", whole.substr(0, length));
        const DataProblem problem =
            data_problem_of([&] { open_dataset("webdataset", set.folder.path()); });
        EXPECT_EQ(problem.file, "train-0.tar") << length;
    }
    const std::string packed = gzipped(whole);
    for (std::size_t length = 1; length < packed.size(); length += 3) {
        set.folder.write("train-0.tar", packed.substr(0, length));
        const DataProblem problem =
            data_problem_of([&] { open_dataset("webdataset", set.folder.path()); });
        EXPECT_EQ(problem.file, "train-0.tar") << length;
    }
    set.folder.write("train-0.tar", with_flipped_byte(packed, packed.size() - 6));
    EXPECT_TRUE(says(data_problem_of([&] { open_dataset("webdataset", set.folder.path()); }),
                     "the gzip file is damaged before byte"));
}

TEST(Webdataset, what_is_no_tar_is_refused) {
    const SmallSet set;
    for (const std::string& file : {std::string(), std::string("hello"), std::string(4096, 'x'),
                                    gzipped("hello"), std::string(10240, '\0')}) {
        set.folder.write("train-0.tar", file);
        EXPECT_EQ(data_problem_of([&] { open_dataset("webdataset", set.folder.path()); }).file,
                  "train-0.tar");
    }
}

}    // namespace slipway

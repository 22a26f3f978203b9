#include "executor/data/natural_order.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "executor/data/content_hash.h"
#include "executor/data/dataset.h"
#include "executor/data/formats/text.h"
#include "tests/executor/data/make_files.h"
#include "tests/support/temp_folder.h"

namespace slipway {

TEST(NaturalOrder, numbers_in_names_count_by_their_value) {
    const std::vector<std::string> ordered = {"",
                                              "007",
                                              "07",
                                              "7",
                                              "12",
                                              "a",
                                              "a0b",
                                              "a1",
                                              "a01b",
                                              "a2/10",
                                              "a10/2",
                                              "a10/9",
                                              "day_2.csv",
                                              "day_10.csv",
                                              "day_99999999999999999999",
                                              "day_100000000000000000000",
                                              "day_x",
                                              "é"};
    for (std::size_t i = 0; i < ordered.size(); ++i)
        for (std::size_t j = 0; j < ordered.size(); ++j)
            EXPECT_EQ(comes_before(ordered[i], ordered[j]), i < j)
                << ordered[i] << " " << ordered[j];
}

// Goal: each format that reads several files takes them in this order, and the hash of a dataset
// does not depend on it.
TEST(NaturalOrder, files_of_a_dataset_are_read_in_it) {
    const TempFolder tables;
    for (int day = 1; day <= 12; ++day)
        tables.write(fmt::format("day_{}.csv", day), "x,label\n1,a\n2,b\n");
    const auto table = open_dataset("csv", tables.path());
    const TempFolder images;
    for (const char* name : {"a/1.png", "a/2.png", "a/10.png"})
        images.write(name, png_file(patterned_image(1, 2, 2)));
    const auto image_set = open_dataset("image_folder", images.path());
    const TempFolder texts;
    for (const char* name : {"1.txt", "2.txt", "10.txt"})
        texts.write(name, "a");

    for (int day = 1; day <= 12; ++day)
        EXPECT_EQ(table->place((day - 1) * 2).file, fmt::format("day_{}.csv", day));
    EXPECT_EQ(table->index().part_names.back(), "day_12");
    EXPECT_EQ(image_set->place(1).file, "a/2.png");
    EXPECT_EQ(text_files(texts.path()), (std::vector<std::string>{"1.txt", "2.txt", "10.txt"}));
    std::vector<std::string> by_bytes = table->files();
    std::ranges::sort(by_bytes);
    EXPECT_NE(by_bytes, table->files());
    EXPECT_EQ(hash_content(tables.path(), by_bytes, 1).hash,
              hash_content(tables.path(), table->files(), 1).hash);
}

}    // namespace slipway

// Goal: a position begins at nothing, whatever an earlier run left in its file.

#include "executor/main/position_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;

std::optional<RunPosition> stored_in(const fs::path& run_folder) {
    return read_run_position(read_file(run_folder / run_position_file));
}

TEST(PositionFile, a_file_of_the_run_before_is_used_again_and_says_nothing_of_it) {
    const TempFolder folder;
    {
        PositionFile first(folder.path());
        first.position().step = 7;
        set_phase(first.position(), "train");
        set_operation(first.position(), "matmul", 3);
        EXPECT_EQ(stored_in(folder.path())->step, 7);
    }
    fs::create_hard_link(folder.path() / run_position_file, folder.path() / "same");
    PositionFile second(folder.path());
    EXPECT_TRUE(fs::equivalent(folder.path() / run_position_file, folder.path() / "same"));
    EXPECT_EQ(second.position().step, 0);
    EXPECT_EQ(phase_of(second.position()), "");
    EXPECT_EQ(operation_of(second.position()), "");
    second.position().step = 2;
    set_phase(second.position(), "compile");
    EXPECT_EQ(stored_in(folder.path())->step, 2);
}

TEST(PositionFile, a_file_of_another_size_is_filled_again) {
    const TempFolder folder;
    for (const std::string& left : {std::string(), std::string("7"), std::string(9000, '7')}) {
        folder.write(run_position_file, left);
        PositionFile file(folder.path());
        file.position().step = 5;
        set_phase(file.position(), "train");
        EXPECT_EQ(fs::file_size(folder.path() / run_position_file), sizeof(RunPosition));
        EXPECT_EQ(stored_in(folder.path())->step, 5);
    }
}

TEST(PositionFile, where_no_file_can_be_made_the_position_is_in_memory_alone) {
    const TempFolder folder;
    fs::create_symlink("elsewhere", folder.path() / run_position_file);
    PositionFile file(folder.path());
    file.position().step = 5;
    EXPECT_EQ(file.position().step, 5);
    EXPECT_FALSE(fs::exists(folder.path() / "elsewhere"));
}

}    // namespace
}    // namespace slipway

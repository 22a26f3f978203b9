#include "scheduler/agent/home_id.h"

#include <gtest/gtest.h>

#include <barrier>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>
#include <vector>

#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

TEST(HomeId, stays_the_same_and_is_none_before_it_was_asked_for) {
    const TempFolder home;
    EXPECT_FALSE(find_home_id(home.path()));
    const std::string made = home_id(home.path());
    EXPECT_EQ(made.size(), 32U);
    EXPECT_EQ(home_id(home.path()), made);
    EXPECT_EQ(find_home_id(home.path()), made);
}

// Goal: the hosts of one home register with one id, whichever agent was first.
// Method: threads that are let go together, with a new home each time.
TEST(HomeId, is_one_for_all_who_ask_at_once) {
    constexpr int askers = 8;
    for (int round = 0; round < 50; ++round) {
        const TempFolder home;
        std::barrier begin(askers);
        std::vector<std::string> found(askers);
        {
            std::vector<std::jthread> threads;
            for (std::string& one : found)
                threads.emplace_back([&] {
                    begin.arrive_and_wait();
                    one = home_id(home.path());
                });
        }
        EXPECT_EQ(std::set<std::string>(found.begin(), found.end()).size(), 1U);
        using Entries = std::filesystem::directory_iterator;
        EXPECT_EQ(std::distance(Entries(home.path()), Entries()), 1) << "nothing is left beside it";
    }
}

TEST(HomeId, is_made_again_when_its_file_is_empty) {
    const TempFolder home;
    std::ofstream(home.path() / "host.id").close();
    EXPECT_FALSE(find_home_id(home.path()));
    const std::string made = home_id(home.path());
    EXPECT_EQ(find_home_id(home.path()), made);
}

TEST(HomeId, of_a_home_that_is_a_file_is_an_error) {
    const TempFolder folder;
    std::ofstream(folder.path() / "file") << "x";
    EXPECT_ANY_THROW(home_id(folder.path() / "file"));
}

}    // namespace
}    // namespace slipway

#include "server/main/store_space.h"

#include <gtest/gtest.h>

#include "tests/support/eventually.h"
#include "tests/support/temp_folder.h"

namespace slipway {

namespace {

using namespace std::chrono_literals;

// Goal: another file system is measured, and the home folder's is not measured twice.
// Method: /proc is another one on every machine, with no free bytes.
TEST(StoreSpace, only_another_file_system_is_measured) {
    const TempFolder home;
    const StoreSpace other(home.path(), "/proc", system_clock());
    EXPECT_TRUE(eventually([&] { return other.free_bytes() == 0U; }, 10s));
    const StoreSpace same(home.path(), home.path(), system_clock());
    const StoreSpace none(home.path(), home.path() / "none", system_clock());
    EXPECT_FALSE(same.free_bytes());
    EXPECT_FALSE(none.free_bytes());
}

}    // namespace

}    // namespace slipway

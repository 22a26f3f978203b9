#include "api/base/posix.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

/// Sets the process's umask and puts the one before back.
struct Umask {
    explicit Umask(mode_t mask) : before(umask(mask)) {}
    ~Umask() { umask(before); }
    Umask(const Umask&) = delete;
    Umask& operator=(const Umask&) = delete;

    mode_t before;
};

TEST(ListenUnix, a_socket_is_for_its_owner_alone_whatever_the_umask) {
    const TempFolder folder;
    for (const mode_t mask : {0, 022, 077}) {
        const Umask set(mask);
        const UniqueFd listener = listen_unix(folder.path(), "test.sock");
        struct stat found {};
        ASSERT_EQ(stat((folder.path() / "test.sock").c_str(), &found), 0);
        EXPECT_EQ(found.st_mode & (S_IRWXG | S_IRWXO), 0U) << mask;
        EXPECT_TRUE(found.st_mode & S_IWUSR);
        EXPECT_EQ(umask(mask), mask) << "the umask is as before";
        EXPECT_TRUE(connect_unix(folder.path(), "test.sock"));
    }
}

}    // namespace
}    // namespace slipway

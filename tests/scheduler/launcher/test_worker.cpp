// Goal: a worker's folders are lent to one run after the other, and never taken from somebody else.

#include "scheduler/launcher/worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "api/base/error.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

class NoProcess final : public LaunchedProcess {
public:
    ProcessId id() const override { return {}; }
    int end_fd() const override { return end_.get(); }
    void terminate() override {}
    void kill() override {}
    std::optional<ProcessExit> collect_exit() override { return std::nullopt; }
    bool is_cleared() override { return true; }
    bool keeps_memory_limit() const override { return false; }
    std::int64_t read_memory_bytes() const override { return 0; }
    bool exceeded_memory() const override { return false; }
    std::int64_t uncounted_memory_bytes() const override { return 0; }
    std::int64_t count_host_memory_kills() const override { return 0; }

private:
    const UniqueFd end_{eventfd(0, EFD_CLOEXEC)};
};

class Workers : public ::testing::Test {
protected:
    fs::path checkpoints_of(const std::string& job) const {
        const fs::path made = folder.path() / "checkpoints" / job;
        fs::create_directories(made);
        return made;
    }

    StayRequest run_of(const std::string& job) const {
        return {.run_folder = folder.path() / "runs" / job, .own = {checkpoints_of(job)}};
    }

    Worker worker(const std::string& name, const StayRequest& first) const {
        fs::create_directories(folder.path() / name / "0");
        int ends[2];
        EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
        return Worker({}, folder.path() / name, first, std::make_unique<NoProcess>(),
                      {.ours = UniqueFd(ends[0]), .theirs = UniqueFd(ends[1])});
    }

    TempFolder folder;
    const UniqueFd lock{eventfd(0, EFD_CLOEXEC)};
};

TEST_F(Workers, a_folder_goes_from_run_to_run_and_the_files_stay) {
    folder.write("checkpoints/first/weights", "1");
    Worker one = worker("one", run_of("first"));
    const FolderId rights = folder_id(checkpoints_of("first"));
    one.give(run_of("second"), lock.get());
    EXPECT_EQ(folder_id(checkpoints_of("second")), rights);
    EXPECT_NE(folder_id(checkpoints_of("first")), rights);
    EXPECT_EQ(read_file(checkpoints_of("first") / "weights"), "1");
    one.take_folders_back();
    EXPECT_FALSE(one.has_lent(checkpoints_of("second")));
}

// A service stood still, its attempt was lost and ran again: in a worker of another service, or in
// another one of its own. That worker has the folder of the job now.
TEST_F(Workers, the_folder_of_a_later_attempt_is_not_taken) {
    Worker stood_still = worker("stood_still", run_of("job"));
    Worker second = worker("second", run_of("before"));
    second.give(run_of("job"), lock.get());
    folder.write("checkpoints/job/weights", "of the later attempt");
    const FolderId later = folder_id(checkpoints_of("job"));
    const FolderId next = folder_id(checkpoints_of("next"));
    EXPECT_THAT([&] { stood_still.give(run_of("next"), lock.get()); },
                Throws<Error>(Property(&Error::what, HasSubstr("another folder stands there"))));
    EXPECT_EQ(folder_id(checkpoints_of("job")), later);
    EXPECT_EQ(read_file(checkpoints_of("job") / "weights"), "of the later attempt");
    EXPECT_EQ(folder_id(checkpoints_of("next")), next);
    second.take_folders_back();
    EXPECT_EQ(read_file(checkpoints_of("job") / "weights"), "of the later attempt");
}

}    // namespace
}    // namespace slipway

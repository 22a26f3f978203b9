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

// Goal: no folder is made for a run that writes nothing, and none is lost of one that does.
TEST_F(Workers, a_folder_that_was_not_there_is_gone_again_when_nothing_was_written) {
    Worker one = worker("one", run_of("first"));
    const FolderId rights = folder_id(checkpoints_of("first"));
    const auto unmade = [this](const std::string& job) {
        return StayRequest{.run_folder = folder.path() / "runs" / job,
                           .own = {folder.path() / "checkpoints" / job}};
    };
    one.give(unmade("second"), lock.get());
    EXPECT_EQ(folder_id(folder.path() / "checkpoints/second"), rights);
    EXPECT_TRUE(one.has_lent(folder.path() / "checkpoints/second"));
    one.give(unmade("third"), lock.get());
    EXPECT_FALSE(fs::exists(folder.path() / "checkpoints/second"));
    EXPECT_EQ(folder_id(folder.path() / "checkpoints/third"), rights);
    folder.write("checkpoints/third/weights", "3");
    one.take_folders_back();
    EXPECT_EQ(read_file(folder.path() / "checkpoints/third/weights"), "3");
    EXPECT_NE(folder_id(folder.path() / "checkpoints/third"), rights);
    one.give(unmade("fourth"), lock.get());
    EXPECT_EQ(folder_id(folder.path() / "checkpoints/fourth"), rights);
    EXPECT_TRUE(fs::is_empty(folder.path() / "checkpoints/fourth"));
    fs::remove(folder.path() / "checkpoints/fourth");
    EXPECT_THROW(one.take_folders_back(), Error) << "it was removed meanwhile";
}

// Goal: what a run needs no longer is there for the next one, and what it wrote is not.
TEST_F(Workers, the_files_of_a_run_that_are_used_again_go_with_the_folder) {
    const auto as_run = [this](const std::string& job) {
        return StayRequest{.run_folder = checkpoints_of(job), .own = {checkpoints_of(job)}};
    };
    Worker one = worker("one", as_run("first"));
    for (const char* name : {"position", "output.log", "executor.sock", "frames.ndjson"})
        folder.write(std::string("checkpoints/first/") + name, name[0] == 'o' ? "" : "1");
    one.give(as_run("second"), lock.get());
    for (const char* name : {"position", "output.log", "executor.sock"}) {
        EXPECT_TRUE(fs::exists(checkpoints_of("second") / name)) << name;
        EXPECT_FALSE(fs::exists(checkpoints_of("first") / name)) << name;
    }
    EXPECT_TRUE(fs::exists(checkpoints_of("first") / "frames.ndjson"));
    EXPECT_FALSE(fs::exists(checkpoints_of("second") / "frames.ndjson"));
    folder.write("checkpoints/second/output.log", "words");
    one.take_folders_back();
    EXPECT_EQ(read_file(checkpoints_of("second") / "output.log"), "words");
    one.give(run_of("third"), lock.get());
    folder.write("checkpoints/third/position", "of no run");
    one.take_folders_back();
    EXPECT_EQ(read_file(checkpoints_of("third") / "position"), "of no run")
        << "all files of folders that are no run folders stay";
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

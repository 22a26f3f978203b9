// Goal: jobs that are held are cancelled only when no agent will release them, however many agents
// ask for sweeps. Method: programs in the place of squeue and scancel.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "scheduler/launcher/slurm/slurm_launcher.h"
#include "tests/support/eventually.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

using namespace std::chrono_literals;

class SlurmHeld : public ::testing::Test {
protected:
    void SetUp() override {
        program("squeue", fmt::format("cat {}", (folder_.path() / "jobs").string()));
        program("scancel", fmt::format("echo \"$@\" >> {}", cancelled_));
        const char* path = std::getenv("PATH");
        path_before_ = path == nullptr ? "" : path;
        setenv("PATH", (folder_.path().string() + ":" + path_before_).c_str(), 1);
        folder_.write("jobs",
                      fmt::format("{:<24}|{:<32}|{:<16}|{:<128}|{:<128}|{:<128}|{:<256}|\n", 17,
                                  "PENDING", 0, "JobHeldUser", "slipway 1f box", "n/a", ""));
    }
    void TearDown() override { setenv("PATH", path_before_.c_str(), 1); }

    void program(const std::string& name, const std::string& text) {
        const auto file = folder_.write(name, "#!/bin/sh\n" + text + "\n");
        std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    }
    std::string cancelled() const {
        std::ifstream file(cancelled_);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    TempFolder folder_;
    const std::string cancelled_ = (folder_.path() / "cancelled").string();
    std::string path_before_;
};

TEST_F(SlurmHeld, a_new_job_is_left_alone_by_the_sweeps_of_several_agents) {
    const SlurmLauncher launcher(
        {}, {.queue = {}, .starter = {}, .folder = folder_.path() / "s", .host = "box"},
        system_clock());
    const Instant begin = system_clock().now();
    for (const auto after : {0ms, 200ms, 400ms, 30000ms, 30200ms})
        launcher.remove_left(begin + after);
    (void)eventually([] { return false; }, 300ms);
    EXPECT_EQ(cancelled(), "");
    launcher.remove_left(begin + 61s);
    EXPECT_TRUE(eventually([&] { return cancelled() == "--quiet 17\n"; }, 10s)) << cancelled();
}

TEST_F(SlurmHeld, nodes_whose_starts_fail_are_left_out_until_one_works) {
    NodeFaults faults(system_clock());
    faults.add("n1");
    faults.add("n1");
    faults.add("n2");
    EXPECT_TRUE(faults.excluded().empty());
    faults.add("n1");
    EXPECT_EQ(faults.excluded(), std::vector<std::string>{"n1"});
    faults.clear("n1");
    EXPECT_TRUE(faults.excluded().empty());
}

}    // namespace
}    // namespace slipway

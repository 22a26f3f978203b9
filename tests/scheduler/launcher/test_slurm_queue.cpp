// Goal: a job of Slurm is looked at whenever it is watched. Method: a program in the place of
// squeue counts how often it was called.
#include "scheduler/launcher/slurm/queue.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/support/eventually.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

using namespace std::chrono_literals;

class SlurmQueues : public ::testing::Test {
protected:
    void SetUp() override {
        const auto squeue = folder_.write("squeue", "#!/bin/sh\nprintf x >> " + looks_ + "\n");
        std::filesystem::permissions(squeue, std::filesystem::perms::owner_all);
        const char* path = std::getenv("PATH");
        path_before_ = path == nullptr ? "" : path;
        setenv("PATH", (folder_.path().string() + ":" + path_before_).c_str(), 1);
    }
    void TearDown() override { setenv("PATH", path_before_.c_str(), 1); }

    std::size_t looks() const {
        std::ifstream file(looks_);
        return std::string(std::istreambuf_iterator<char>(file), {}).size();
    }

    static void pass(std::chrono::milliseconds time) {
        (void)eventually([] { return false; }, time);
    }

    TempFolder folder_;
    const std::string looks_ = (folder_.path() / "looks").string();
    std::string path_before_;
};

// A job that is watched soon after the last one ended comes before the next look is due.
TEST_F(SlurmQueues, a_job_is_looked_at_however_soon_it_follows_another) {
    SlurmQueue queue({.batch = {}, .look_every = 200ms}, system_clock());
    for (const auto pause : {0ms, 150ms, 250ms, 300ms, 350ms, 450ms}) {
        const std::size_t before = looks();
        auto watch = queue.watch("job_1/1", 7, "slipway");
        EXPECT_TRUE(eventually([&] { return looks() > before; }, 10s)) << pause.count() << " ms";
        pass(10ms);
        watch.reset();
        pass(pause);
    }
}

}    // namespace
}    // namespace slipway

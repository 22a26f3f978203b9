#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "scheduler/launcher/confinement.h"
#include "scheduler/launcher/hand_over.h"
#include "scheduler/launcher/process.h"
#include "tests/support/eventually.h"
#include "tests/support/temp_folder.h"

namespace slipway {

inline constexpr uid_t test_user = 880001;

/// Python under slipway-confine, with a folder that it may write, one that it may read, and one
/// that it may not.
class Confined : public ::testing::Test {
protected:
    void SetUp() override {
        std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
        for (const char* name : {"run", "data", "secret"})
            std::filesystem::create_directories(folder.path() / name);
        folder.write("data/sample", "a sample");
        folder.write("secret/token", "a token");
        confinement.confiner = std::filesystem::path(SLIPWAY_BIN_DIR) / "slipway-confine";
        confinement.paths.readable = {folder.path() / "data"};
        confinement.paths.writable = {folder.path() / "run"};
        if (geteuid() == 0) {
            confinement.user = test_user;
            // All of it belongs to that user, as all belongs to one user where the service is not
            // root: permissions must not be what stops an attempt.
            for (const char* name : {"run", "data", "secret"})
                hand_over(folder.path() / name, test_user);
        }
    }

    RunningProcess start(const std::string& script, const std::filesystem::path& output) const {
        return spawn({.program = program,
                      .arguments = {"-I", "-S", "-c", "import os, socket, ctypes, sys\n" + script},
                      .folder = folder.path() / "run",
                      .output = output,
                      .result = {}},
                     {.confinement = confinement});
    }

    /// What the script printed, and " status N" when it did not end with 0.
    std::string run(const std::string& script) {
        const std::filesystem::path output = folder.path() / "output";
        std::filesystem::remove(output);
        const RunningProcess process = start(script, output);
        std::optional<int> status;
        EXPECT_TRUE(eventually(
            [&] {
                status = reap(process);
                return status.has_value();
            },
            std::chrono::seconds(30)));
        std::string said = read_file(folder.path() / "output");
        if (status != 0) said += fmt::format(" status {}", status.value_or(-1));
        return said;
    }

    /// The name of the error that the expression raises; "done" when it raises none.
    std::string attempt(const std::string& expression) {
        return run(
            fmt::format("try:\n  {}\n  print('done', end='')\n"
                        "except Exception as e:\n  print(type(e).__name__, end='')\n",
                        expression));
    }

    /// Another process of the same user, as another job of the project is.
    struct Sibling {
        RunningProcess process;
        ~Sibling() {
            signal_group(process, SIGKILL);
            eventually([this] { return reap(process).has_value(); });
        }
        std::string limits() const {
            return read_file(fmt::format("/proc/{}/limits", process.id.pid));
        }
    };

    TempFolder folder;
    std::filesystem::path program = "/usr/bin/python3";
    Confinement confinement;
};

}    // namespace slipway

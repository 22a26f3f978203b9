// Goal: an export gives a client what the executor wrote, and nothing else, and outlives no
// service. Method: shell scripts that stand in for the executor.

#include "server/main/weights_export.h"

#include <gtest/gtest.h>

#include "api/base/error.h"
#include "scheduler/launcher/local_launcher.h"
#include "scheduler/launcher/process.h"
#include "tests/scheduler/store/samples.h"
#include "tests/support/eventually.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;

class WeightsExportTest : public store::StoreTest {
protected:
    AgentOptions options(const std::string& script) {
        AgentOptions chosen;
        chosen.home = folder.path();
        chosen.launcher = std::make_shared<LocalLauncher>(LauncherOptions{});
        // export CHECKPOINT --out FILE …
        chosen.executor = folder.write("executor", "#!/bin/sh\nout=$4\n" + script + "\n");
        fs::permissions(chosen.executor, fs::perms(0755));
        return chosen;
    }

    /// Why the export failed; empty: it did not.
    std::string export_by(const std::string& script) {
        WeightsExporter exporter(store, options(script), folder.path() / "exports");
        try {
            exporter.run({.project = "default",
                          .checkpoint = folder.path() / "job" / "step_1",
                          .dtype = "f32",
                          .weights = "raw"},
                         made, stop);
            return {};
        } catch (const Error& error) {
            return error.what();
        }
    }

    TempFolder folder;
    const fs::path made = folder.path() / "exports" / "a.safetensors";
    std::atomic<bool> stop{false};
};

TEST_F(WeightsExportTest, what_was_written_is_there) {
    EXPECT_EQ(export_by("echo weights > $out"), "");
    EXPECT_EQ(read_file(made), "weights\n");
    EXPECT_TRUE(fs::is_empty(folder.path() / "processes" / "exports"));
}

TEST_F(WeightsExportTest, only_a_plain_file_is_taken) {
    const fs::path precious = folder.write("precious", "x");
    for (const std::string& each :
         {"ln -s " + precious.string() + " $out", "ln " + precious.string() + " $out",
          std::string("mkdir $out"), std::string("mkfifo $out")}) {
        EXPECT_NE(export_by(each).find("plain file"), std::string::npos) << each;
        EXPECT_FALSE(fs::exists(fs::symlink_status(made))) << each;
    }
    EXPECT_EQ(read_file(precious), "x");
}

TEST_F(WeightsExportTest, a_service_ends_what_the_one_before_it_was_exporting) {
    ProcessRecords records(folder.path() / "processes" / "exports",
                           LocalLauncher(LauncherOptions{}).id_scope());
    const RunningProcess left = spawn({.program = "/bin/sleep",
                                       .arguments = {"1000"},
                                       .folder = folder.path(),
                                       .output = folder.path() / "output",
                                       .result = {},
                                       .before_start = keep_record(records, "export_b")});
    const WeightsExporter exporter(store, options(""), folder.path() / "exports");
    EXPECT_TRUE(eventually([&] { return reap(left).has_value(); }));
    EXPECT_TRUE(fs::is_empty(folder.path() / "processes" / "exports"));
}

TEST_F(WeightsExportTest, a_stop_ends_it_with_everything_it_started) {
    stop = true;
    EXPECT_NE(export_by("sleep 1000 & sleep 1000").find("stops"), std::string::npos);
    EXPECT_TRUE(fs::is_empty(folder.path() / "processes" / "exports"));
}

}    // namespace
}    // namespace slipway

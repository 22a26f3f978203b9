#include "executor/train/data_version.h"

#include <nlohmann/json.hpp>

#include "executor/data/inspect.h"
#include "executor/train/train_error.h"
#include "tests/executor/train/run_fixture.h"

namespace slipway {

namespace {

class RunVersion : public Run {};

}    // namespace

TEST_F(RunVersion, trains_on_the_files_that_the_job_names_and_on_no_others) {
    AttemptPlan one = plan();
    one.spec.train.epochs = 1;
    const auto hash = inspect_dataset("csv", one.dataset_path)["content_hash"].get<std::string>();
    one.spec.data.version = hash.substr(0, 19);
    KeepingReporter first, second;
    EXPECT_EQ(run_training(one, first).step, 6);
    folder_.write("data/points.csv", table() + "1,1,1,1,yes\n");
    one.checkpoint_folder = folder_.path() / "other";
    try {
        run_training(one, second);
        ADD_FAILURE() << "nothing was thrown";
    } catch (const TrainError& error) {
        EXPECT_EQ(error.reason(), "data_error");
        const std::string now = inspect_dataset("csv", one.dataset_path)["content_hash"];
        for (const std::string& part : {now, one.spec.data.version, std::string("points.csv")})
            EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
}

TEST_F(RunVersion, trains_on_no_other_files_than_those_that_were_checked) {
    AttemptPlan one = plan();
    one.spec.train.epochs = 1;
    one.dataset_content_hash =
        inspect_dataset("csv", one.dataset_path)["content_hash"].get<std::string>();
    KeepingReporter first, second;
    EXPECT_EQ(run_training(one, first).step, 6);
    std::string changed = table();
    char& digit = changed[changed.find_last_of("0123456789")];
    digit = digit == '1' ? '2' : '1';
    folder_.write("data/points.csv", changed);
    one.checkpoint_folder = folder_.path() / "other";
    try {
        run_training(one, second);
        ADD_FAILURE() << "nothing was thrown";
    } catch (const TrainError& error) {
        EXPECT_EQ(error.reason(), "data_changed");
        const std::string now = inspect_dataset("csv", one.dataset_path)["content_hash"];
        for (const std::string& part : {now, one.dataset_content_hash, one.dataset_path.string()})
            EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
}

}    // namespace slipway

// Goal: a run reports what it begins with and how it fails, and weights are matched by name.
// Method: a network is trained, and another run begins with its weights on the same table with
// columns and labels in another order: before its first step both answer the same.
#include <gmock/gmock.h>

#include <sstream>

#include "tests/executor/train/run_fixture.h"

namespace slipway {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class RunWeights : public Run {
protected:
    /// The same rows with the columns in this order, and labels of these names.
    std::filesystem::path table_with(const std::vector<int>& order, const std::string& no,
                                     const std::string& yes) {
        std::string text;
        std::istringstream lines(table());
        for (std::string line; std::getline(lines, line);) {
            std::vector<std::string> fields;
            std::istringstream row(line);
            for (std::string field; std::getline(row, field, ',');)
                fields.push_back(field);
            for (const int column : order)
                text += fields[std::size_t(column)] + ",";
            const std::string& label = fields[4];
            text += (label == "no" ? no : label == "yes" ? yes : label) + "\n";
        }
        return folder_.write(fmt::format("data_{}/points.csv", folders_++), text);
    }
    AttemptPlan trained() {
        AttemptPlan plan = this->plan();
        plan.spec.train.epochs = 20;
        KeepingReporter reporter;
        run_training(plan, reporter);
        accuracy_ = reporter.values_of("val_accuracy").back();
        return plan;
    }
    /// A run that begins with the weights of `first` and does not move them.
    AttemptPlan begun(const AttemptPlan& first, const std::filesystem::path& table) {
        AttemptPlan plan = this->plan();
        plan.dataset_path = table;
        plan.spec.train.epochs = 1;
        plan.spec.train.optimizer.lr = 1e-12;
        plan.spec.model.init = InitSpec{.from = "ckp_1"};
        plan.init_from = newest_checkpoint(first.checkpoint_folder);
        return plan;
    }

    double accuracy_ = 0;
};

TEST_F(RunWeights, of_columns_and_classes_in_another_order_answer_as_before) {
    const AttemptPlan first = trained();
    ASSERT_GT(accuracy_, 0.85);
    // "zero" sorts behind "one": the classes have the opposite numbers.
    AttemptPlan named = plan();
    named.dataset_path = table_with({0, 1, 2, 3}, "zero", "one");
    named.spec.train.epochs = 20;
    KeepingReporter of_named;
    run_training(named, of_named);

    KeepingReporter columns;
    run_training(begun(first, table_with({3, 1, 0, 2}, "no", "yes")), columns);
    EXPECT_DOUBLE_EQ(columns.values_of("val_accuracy").back(), accuracy_);
    EXPECT_THAT(columns.logs, Not(Contains(HasSubstr("weights were trained"))));

    AttemptPlan other = begun(named, table_with({0, 1, 2, 3}, "zero", "one"));
    other.dataset_options = R"({"class_names": ["zero", "one"]})";
    KeepingReporter classes;
    run_training(other, classes);
    EXPECT_DOUBLE_EQ(classes.values_of("val_accuracy").back(),
                     of_named.values_of("val_accuracy").back());
    EXPECT_THAT(classes.logs, Contains(HasSubstr("ordered by name")));
}

TEST_F(RunWeights, a_run_that_goes_on_keeps_the_order_of_its_columns) {
    const AttemptPlan first = trained();
    AttemptPlan whole = begun(first, table_with({3, 1, 0, 2}, "no", "yes"));
    whole.spec.train.epochs = 4;
    whole.spec.train.optimizer.lr = 0.01;
    AttemptPlan broken = whole;
    broken.checkpoint_folder = folder_.path() / "broken";
    KeepingReporter reporter;
    run_training(whole, reporter);
    EXPECT_EQ(losses_of_broken_run(broken, 7), reporter.values_of("train_loss"));
}

TEST_F(RunWeights, of_other_classes_or_columns_are_told) {
    const AttemptPlan first = trained();
    KeepingReporter classes;
    run_training(begun(first, table_with({0, 1, 2, 3}, "no", "perhaps")), classes);
    EXPECT_THAT(classes.logs, Contains(HasSubstr("the weights were trained without perhaps")));
    AttemptPlan plan = begun(
        first,
        folder_.write("renamed/points.csv", "a,b,c,e" + table().substr(table().find(",label"))));
    KeepingReporter columns;
    run_training(plan, columns);
    EXPECT_THAT(columns.logs, Contains(HasSubstr("columns that this job does not have: d")));
}

TEST_F(RunWeights, a_loss_that_grows_far_is_told_as_the_verdict) {
    AttemptPlan plan = this->plan();
    plan.spec.train.optimizer.name = OptimizerName::sgd;
    plan.spec.train.optimizer.lr = 500;
    plan.spec.train.epochs.reset();
    plan.spec.train.steps = 2;
    KeepingReporter reporter;
    run_training(plan, reporter);
    EXPECT_THAT(reporter.logs, Contains(HasSubstr("Diverged: the training loss is")));
}

TEST_F(RunWeights, a_gradient_norm_that_is_not_finite_is_told_once) {
    AttemptPlan plan = this->plan();
    plan.spec.train.optimizer.clip_norm = 1;
    plan.spec.data.normalize = NormalizeSpec{.mean = {0}, .std = {1e-21}};
    KeepingReporter reporter;
    run_training(plan, reporter);
    EXPECT_EQ(std::ranges::count_if(reporter.logs,
                                    [](const std::string& line) {
                                        return line.find("the norm of the gradients is inf") !=
                                               line.npos;
                                    }),
              1);
}

}    // namespace
}    // namespace slipway

// Runs with mixup and cutmix, from the spec to the checkpoint.
#include "executor/train/train_error.h"
#include "tests/executor/data/make_files.h"
#include "tests/executor/train/run_fixture.h"

namespace slipway {

namespace {

class RunMixing : public Run {
protected:
    static AugmentSpec step(AugmentName name, double alpha = 1) {
        AugmentSpec step;
        step.name = name;
        step.alpha = alpha;
        return step;
    }

    AttemptPlan photos(std::int64_t cores = 1) {
        for (int i = 0; i < 40; ++i)
            folder_.write(fmt::format("photos/{}/{:02}.png", i % 2, i),
                          png_file(patterned_image(1, 8, 8, i)));
        AttemptPlan made = plan(cores);
        made.dataset_format = "image_folder";
        made.dataset_path = folder_.path() / "photos";
        made.spec.train.epochs = 2;
        made.spec.data.augment = {step(AugmentName::horizontal_flip), step(AugmentName::mixup),
                                  step(AugmentName::cutmix)};
        return made;
    }

    static std::string reason_of(const AttemptPlan& plan) {
        KeepingReporter reporter;
        try {
            run_training(plan, reporter);
        } catch (const TrainError& error) {
            return error.reason() + ": " + error.what();
        }
        return "it succeeded";
    }
};

}    // namespace

TEST_F(RunMixing, is_the_same_on_eight_cores_and_after_a_resume) {
    const AttemptPlan one = photos(1), eight = photos(8);
    expect_same_run(one, eight);
    AttemptPlan broken = photos(1);
    KeepingReporter reporter;
    AttemptPlan whole = photos(1);
    run_training(whole, reporter);
    EXPECT_EQ(losses_of_broken_run(broken, 3), reporter.values_of("train_loss"));
    expect_same_bits(whole, broken);
}

TEST_F(RunMixing, only_training_samples_are_mixed) {
    AttemptPlan plain = plan(), mixed = plan();
    plain.spec.train.optimizer.lr = mixed.spec.train.optimizer.lr = 1e-9;    // it stays as it is
    mixed.spec.data.augment = {step(AugmentName::mixup)};
    mixed.spec.task.metrics.push_back(TaskMetric::top5_accuracy);
    KeepingReporter without, with;
    run_training(plain, without);
    run_training(mixed, with);
    EXPECT_NE(without.values_of("train_loss")[0], with.values_of("train_loss")[0]);
    EXPECT_NEAR(without.values_of("val_loss")[0], with.values_of("val_loss")[0], 1e-6);
    EXPECT_EQ(without.values_of("val_accuracy")[0], with.values_of("val_accuracy")[0]);
}

TEST_F(RunMixing, learns_several_labels_and_more_outputs_than_classes) {
    AttemptPlan made = plan();
    made.spec.data.augment = {step(AugmentName::mixup, 0.2)};
    made.spec.train.epochs = 8;
    made.spec.model.num_classes = 5;
    KeepingReporter reporter;
    run_training(made, reporter);
    EXPECT_GT(reporter.values_of("val_accuracy").back(), 0.8);

    made = plan();
    std::string numbers = table();    // labels no and yes become 0 and 1
    for (const auto& [word, number] : {std::pair{",no\n", ",0\n"}, {",yes\n", ",1\n"}})
        for (std::size_t at = 0; (at = numbers.find(word)) != std::string::npos;)
            numbers.replace(at, std::string(word).size(), number);
    made.dataset_path = folder_.write("numbers/points.csv", numbers);
    made.spec.data.augment = {step(AugmentName::mixup, 0.2)};
    made.spec.task.type = TaskType::multilabel;
    made.spec.task.metrics = {TaskMetric::loss, TaskMetric::accuracy, TaskMetric::auc};
    made.spec.train.epochs = 8;
    KeepingReporter several;
    run_training(made, several);
    EXPECT_GT(several.values_of("val_accuracy").back(), 0.8);
}

TEST_F(RunMixing, boxes_of_columns_are_refused) {
    AttemptPlan made = plan();
    made.spec.data.augment = {step(AugmentName::cutmix)};
    EXPECT_NE(reason_of(made).find("spec_error: data.augment has cutmix, which needs images"),
              std::string::npos)
        << reason_of(made);
}

}    // namespace slipway

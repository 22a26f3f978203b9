// Runs on a folder of photos: augmentation and damaged images, from the spec to the report.
#include <nlohmann/json.hpp>

#include <fstream>

#include "executor/train/train_error.h"
#include "tests/executor/data/make_files.h"
#include "tests/executor/train/run_fixture.h"

namespace slipway {

namespace {

class RunImages : public Run {
protected:
    RunImages() {
        for (int i = 0; i < 40; ++i) {
            const std::string file = jpeg_file(patterned_image(3, 14 + i % 3, 17, i));
            const std::string name = fmt::format("photos/{}/{:02}.jpg", i % 2, i);
            folder_.write(name, file);
        }
    }

    AttemptPlan photos(std::int64_t cores = 1) {
        AttemptPlan made = plan(cores);
        made.dataset_format = "image_folder";
        made.dataset_path = folder_.path() / "photos";
        made.spec.train.epochs = 2;
        AugmentSpec resize, crop, flip;
        resize.name = AugmentName::resize;
        resize.size = {12};
        crop.name = AugmentName::random_resized_crop;
        crop.size = {8};
        crop.scale = {0.5, 1};
        crop.ratio = {0.75, 1.33};
        flip.name = AugmentName::horizontal_flip;
        made.spec.data.augment = {resize, crop, flip};
        made.spec.data.normalize = NormalizeSpec{.mean = {0.5}, .std = {0.25}};
        return made;
    }

    void cut(const std::string& name, std::size_t bytes) {
        const std::string file = jpeg_file(patterned_image(3, 14, 17, 1));
        folder_.write("photos/" + name, file.substr(0, file.size() - bytes));
    }

    std::string failure(const AttemptPlan& plan) {
        KeepingReporter reporter;
        try {
            run_training(plan, reporter);
        } catch (const TrainError& error) {
            return error.reason() + ": " + error.what();
        } catch (const Error& error) {
            return error.what();
        }
        return "it succeeded";
    }

    static bool has(const std::vector<std::string>& lines, const std::string& words) {
        return std::ranges::any_of(
            lines, [&](const std::string& line) { return line.find(words) != line.npos; });
    }
};

}    // namespace

TEST_F(RunImages, augmentation_is_the_same_on_eight_cores_and_after_a_resume) {
    AttemptPlan one = photos(1), eight = photos(8), broken = photos(1);
    KeepingReporter reporter, other;
    run_training(one, reporter);
    run_training(eight, other);
    expect_same_bits(one, eight);
    EXPECT_EQ(losses_of_broken_run(broken, 3), reporter.values_of("train_loss"));
    expect_same_bits(one, broken);
    EXPECT_EQ(reporter.values_of("val_loss").size(), 2U);
}

TEST_F(RunImages, the_report_counts_what_was_augmented) {
    AttemptPlan made = photos();
    made.report_folder = folder_.path() / "report";
    KeepingReporter reporter;
    run_training(made, reporter);
    const auto report = nlohmann::json::parse(std::ifstream(made.report_folder / "report.json"));
    EXPECT_EQ(report["input"]["samples"], 64);    // drop_last: 2 epochs of 2 batches
    EXPECT_EQ(report["input"]["augmented"], 64);
    // Each of 40 once, but where two threads want the same one at the same moment; 80 are read.
    EXPECT_GE(report["input"]["decoded"], 32);
    EXPECT_LT(report["input"]["decoded"], 64);
    EXPECT_GT(report["input"]["read_s"], 0);
}

TEST_F(RunImages, sizes_that_do_not_fit_are_a_spec_error_that_names_the_step) {
    AttemptPlan made = photos();
    made.spec.data.image_size = 9;
    EXPECT_NE(failure(made).find("spec_error: data.augment[1] (random_resized_crop) ends at 8 x 8"),
              std::string::npos)
        << failure(made);
    made = photos();
    made.spec.data.augment.resize(1);
    EXPECT_NE(failure(made).find("spec_error: data.augment[0] (resize) leaves"), std::string::npos);
    AttemptPlan table = plan();
    table.spec.data.augment = photos().spec.data.augment;
    EXPECT_NE(failure(table).find("spec_error: data.augment needs images"), std::string::npos);
}

TEST_F(RunImages, packed_images_change_no_bit_and_the_second_job_decodes_none) {
    for (const bool augments : {true, false}) {
        AttemptPlan plain = photos();
        if (!augments) {
            plain.spec.data.augment.clear();
            plain.spec.data.image_size = 8;
        }
        AttemptPlan first = plain, second = plain;
        for (AttemptPlan* plan : {&first, &second}) {
            plan->spec.data.packed = true;
            plan->packed_folder = folder_.path() / "packed";
            plan->checkpoint_folder = folder_.path() / fmt::format("packed_{}", folders_++);
        }
        expect_same_run(plain, first);
        second.report_folder = folder_.path() / "report";
        KeepingReporter reporter;
        run_training(second, reporter);
        expect_same_bits(plain, second);
        EXPECT_TRUE(has(reporter.logs, "40 packed images")) << augments;
        EXPECT_TRUE(has(reporter.logs, "made by an earlier job"));
        const auto report =
            nlohmann::json::parse(std::ifstream(second.report_folder / "report.json"));
        EXPECT_EQ(report["input"]["decoded"], 0);
    }
}

// Goal: whether images are shared changes no bit of a job, wherever its list begins to draw.
// Method: one job without, two with the same folder; the second finds all images.
TEST_F(RunImages, shared_images_change_no_bit_and_the_second_job_decodes_none) {
    enum Steps { none, resized_first, drawn_first, drawn_before_a_resize };
    for (const Steps steps : {none, resized_first, drawn_first, drawn_before_a_resize}) {
        AttemptPlan plain = photos();
        std::vector<AugmentSpec>& list = plain.spec.data.augment;
        if (steps == none) {
            list.clear();
            plain.spec.data.image_size = 8;
        }
        if (steps == drawn_first) list.erase(list.begin());
        if (steps == drawn_before_a_resize) std::swap(list.front(), list.back());
        if (steps == drawn_before_a_resize) std::swap(list[1], list[2]);
        AttemptPlan first = plain, second = plain;
        for (AttemptPlan* plan : {&first, &second}) {
            plan->sharing.folder = folder_.path() / "decoded";
            plan->sharing.settled_after = std::chrono::seconds(0);
            plan->checkpoint_folder = folder_.path() / fmt::format("shared_{}", folders_++);
        }
        expect_same_run(plain, first);
        second.report_folder = folder_.path() / "report";
        KeepingReporter reporter;
        run_training(second, reporter);
        expect_same_bits(plain, second);
        EXPECT_TRUE(has(reporter.logs, "decoded images are shared with other jobs")) << steps;
        const auto report =
            nlohmann::json::parse(std::ifstream(second.report_folder / "report.json"));
        EXPECT_EQ(report["input"]["decoded"], 0) << steps;
    }
}

TEST_F(RunImages, a_job_whose_images_cannot_be_shared_says_why) {
    AttemptPlan made = photos();
    made.sharing.folder = folder_.path() / "decoded";
    made.sharing.settled_after = std::chrono::hours(1);
    KeepingReporter fresh, small;
    run_training(made, fresh);
    EXPECT_TRUE(has(fresh.logs, "images are decoded for this job alone: its files were changed"));
    made.sharing.settled_after = std::chrono::seconds(0);
    made.sharing.bytes_max = 40 * 3 * 12 * 14;    // their pixels, without room for records
    made.checkpoint_folder = folder_.path() / "another";
    run_training(made, small);
    EXPECT_TRUE(has(small.logs,
                    "images that are not in the shared file are decoded for this job "
                    "alone: "));
}

TEST_F(RunImages, damaged_images_are_skipped_or_accepted_by_each_job_that_shares_the_others) {
    cut("0/06.jpg", 30);
    cut("1/07.jpg", 60);
    for (const TruncatedImages how : {TruncatedImages::skip, TruncatedImages::accept}) {
        AttemptPlan plain = photos();
        plain.spec.data.truncated_images = how;
        KeepingReporter alone;
        run_training(plain, alone);
        for (int job = 0; job < 2; ++job) {
            AttemptPlan shared = plain;
            shared.sharing.folder = folder_.path() / "decoded";
            shared.sharing.settled_after = std::chrono::seconds(0);
            shared.checkpoint_folder = folder_.path() / fmt::format("shared_{}", folders_++);
            KeepingReporter reporter;
            run_training(shared, reporter);
            expect_same_bits(plain, shared);
            for (const char* name : {"0/06.jpg", "1/07.jpg"}) {
                EXPECT_TRUE(has(reporter.logs, name)) << job;
                EXPECT_TRUE(has(alone.logs, name));
            }
        }
    }
}

TEST_F(RunImages, a_job_goes_on_without_a_pack_and_says_why) {
    AttemptPlan made = photos();
    made.spec.data.packed = true;
    made.packed_folder = folder_.write("a_file", "x") / "below";
    KeepingReporter reporter;
    run_training(made, reporter);
    EXPECT_TRUE(has(reporter.logs, "images are decoded, as without data.packed: "));
    AttemptPlan table = plan();
    table.spec.data.packed = true;
    EXPECT_NE(failure(table).find("spec_error: data.packed is for images"), std::string::npos);
}

// Goal: a job that goes on knows its damaged images without looking at all of them again.
// Method: between the attempts another image is cut; a job that looked would leave it out.
TEST_F(RunImages, a_resumed_job_reads_its_damaged_images_from_the_checkpoint) {
    cut("0/06.jpg", 30);
    AttemptPlan made = photos();
    made.spec.data.truncated_images = TruncatedImages::skip;
    KeepingReporter first, second;
    first.stop_at_step = 1;
    run_training(made, first);
    EXPECT_TRUE(has(first.logs, "left out: 0/06.jpg"));
    made.resume_from = newest_checkpoint(made.checkpoint_folder);
    made.attempt = 2;
    made.spec.train.epochs = 1;
    second.stop_at_step = 0;
    cut("1/07.jpg", 60);
    run_training(made, second);
    EXPECT_TRUE(has(second.logs, "1 damaged images are left out"));
    EXPECT_TRUE(has(second.logs, "left out: 0/06.jpg"));
    made.resume_from.reset();
    made.checkpoint_folder = folder_.path() / "fresh";
    KeepingReporter third;
    third.stop_at_step = 0;
    run_training(made, third);
    EXPECT_TRUE(has(third.logs, "2 damaged images are left out"));
}

TEST_F(RunImages, a_damaged_image_fails_is_skipped_or_accepted) {
    cut("0/06.jpg", 30);
    cut("1/07.jpg", 60);
    AttemptPlan made = photos();
    made.spec.train.drop_last = false;
    EXPECT_NE(failure(made).find("data_error: "), std::string::npos);
    EXPECT_NE(failure(made).find(".jpg: the JPEG image is damaged"), std::string::npos);

    made.spec.data.truncated_images = TruncatedImages::skip;
    KeepingReporter skipped;
    run_training(made, skipped);
    EXPECT_TRUE(has(skipped.logs, "2 damaged images are left out"));
    EXPECT_TRUE(has(skipped.logs, "left out: 0/06.jpg"));
    EXPECT_TRUE(has(skipped.logs, "left out: 1/07.jpg"));

    made = photos();
    made.spec.train.drop_last = false;
    made.dataset_options = R"({"truncated_images": "accept"})";
    KeepingReporter accepted;
    run_training(made, accepted);
    EXPECT_EQ(std::ranges::count_if(accepted.logs,
                                    [](const std::string& line) {
                                        return line.find("taken as it is: ") != line.npos;
                                    }),
              2);
    EXPECT_TRUE(has(accepted.logs, "taken as it is: 1/07.jpg"));
    EXPECT_EQ(accepted.last_progress.samples, 2 * 32);    // each once an epoch
    EXPECT_EQ(skipped.last_progress.samples % 2, 0);
    EXPECT_LT(skipped.last_progress.samples, 2 * 33);
}

}    // namespace slipway

#include "executor/train/checkpoint_saver.h"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>

#include "executor/train/train_error.h"
#include "tests/executor/train/run_fixture.h"

namespace slipway {
namespace {

constexpr std::int64_t any = -1;

Checkpoint checkpoint_of(const Array& weight, std::int64_t step) {
    Checkpoint checkpoint;
    checkpoint.state.step = step;
    checkpoint.weights.push_back({"weight", weight});
    checkpoint.optimizer.push_back({"weight.momentum", weight});
    return checkpoint;
}

SavedCheckpoint named(std::string name, std::int64_t step = 0) {
    SavedCheckpoint saved;
    saved.name = std::move(name);
    saved.step = step;
    return saved;
}

Array filled(std::int64_t count, float value) {
    Array array(Shape{DType::f32, {count}});
    std::ranges::fill(array.as<float>(), value);
    return array;
}

class CheckpointSaverTest : public testing::Test {
protected:
    CheckpointSaver saver(std::int64_t bytes_max = any) {
        return {folder_.path() / "checkpoints", reporter_, bytes_max};
    }
    std::vector<std::string> reported() const {
        std::vector<std::string> names;
        for (const SavedCheckpoint& saved : reporter_.checkpoints)
            names.push_back(saved.name);
        return names;
    }
    void expect_all(const std::string& name, float value) const {
        const auto loaded = load_checkpoint(folder_.path() / "checkpoints" / name);
        ASSERT_TRUE(loaded) << loaded.error().what();
        for (const auto* arrays : {&loaded->weights, &loaded->optimizer})
            for (const NamedArray& each : *arrays)
                EXPECT_TRUE(std::ranges::all_of(each.array.as<float>(),
                                                [&](float one) { return one == value; }))
                    << name << " " << each.name;
    }

    TempFolder folder_;
    KeepingReporter reporter_;
};

using Names = std::vector<std::string>;

TEST_F(CheckpointSaverTest, what_changes_after_a_save_is_not_in_it) {
    CheckpointSaver saves = saver();
    Array weight = filled(1 << 20, 0);
    for (int step = 1; step <= 4; ++step) {
        std::ranges::fill(weight.as<float>(), float(step));
        saves.save(named(fmt::format("step_{}", step)), checkpoint_of(weight, step));
        std::ranges::fill(weight.as<float>(), -1.0F);
    }
    saves.finish();
    EXPECT_EQ(reported(), (Names{"step_1", "step_2", "step_3", "step_4"}));
    for (int step = 1; step <= 4; ++step)
        expect_all(fmt::format("step_{}", step), float(step));
}

TEST_F(CheckpointSaverTest, what_is_reported_is_whole_and_names_its_files) {
    CheckpointSaver saves = saver();
    saves.save(named("one", 7), checkpoint_of(filled(1 << 20, 1), 7));
    while (reporter_.checkpoints.empty()) {
        saves.report_written();
        if (!reporter_.checkpoints.empty()) expect_all("one", 1);
    }
    const SavedCheckpoint& saved = reporter_.checkpoints.at(0);
    EXPECT_EQ(saved.step, 7);
    ASSERT_EQ(saved.files.size(), 3U);
    for (const SavedFile& file : saved.files)
        EXPECT_EQ(file.bytes, std::int64_t(std::filesystem::file_size(
                                  folder_.path() / "checkpoints/one" / file.name)));
    saves.report_written();
    saves.finish();
    EXPECT_EQ(reported(), (Names{"one"})) << "once";
}

TEST_F(CheckpointSaverTest, without_memory_for_a_copy_it_is_on_the_disk_on_return) {
    const Array weight = filled(1000, 3);
    CheckpointSaver saves = saver(7999);    // of 8,000 bytes
    saves.save(named("one"), checkpoint_of(weight, 1));
    EXPECT_EQ(reported(), (Names{"one"}));
    expect_all("one", 3);
}

TEST_F(CheckpointSaverTest, arrays_of_another_shape_are_copied_again) {
    CheckpointSaver saves = saver();
    saves.save(named("one"), checkpoint_of(filled(10, 1), 1));
    saves.save(named("two"), checkpoint_of(filled(2000, 2), 2));
    saves.save(named("three"), checkpoint_of(filled(5, 3), 3));
    saves.finish();
    expect_all("one", 1);
    expect_all("two", 2);
    expect_all("three", 3);
}

TEST_F(CheckpointSaverTest, a_save_that_failed_is_told_by_whoever_comes_next) {
    folder_.write("checkpoints", "a file where the folder should be");
    for (const auto& next : std::vector<std::function<void(CheckpointSaver&)>>{
             [](CheckpointSaver& saves) { saves.finish(); },
             [](CheckpointSaver& saves) {
                 while (true)
                     saves.report_written();
             },
             [](CheckpointSaver& saves) {
                 saves.save(named("two"), checkpoint_of(filled(10, 1), 2));
             }}) {
        CheckpointSaver saves = saver();
        saves.save(named("one"), checkpoint_of(filled(10, 1), 1));
        try {
            next(saves);
            FAIL() << "it failed";
        } catch (const TrainError& error) {
            EXPECT_EQ(error.reason(), "disk_error");
        }
        EXPECT_EQ(reported(), Names{});
        EXPECT_NO_THROW(saves.finish()) << "told once";
    }
}

TEST_F(CheckpointSaverTest, destroyed_it_ends_what_it_began) {
    {
        CheckpointSaver saves = saver();
        saves.save(named("one"), checkpoint_of(filled(1 << 20, 1), 1));
    }
    expect_all("one", 1);
    EXPECT_EQ(reported(), Names{});
}

TEST_F(Run, what_is_saved_beside_the_steps_is_what_is_saved_between_them) {
    AttemptPlan beside = plan(), between = plan();
    for (AttemptPlan* each : {&beside, &between}) {
        each->spec.checkpoint.every_steps = 1;
        each->spec.checkpoint.keep_last = 100;
    }
    KeepingReporter first, second;
    run_training(beside, first);
    for (const CompiledProgram& program : first.programs)
        between.memory_bytes_max = std::max(between.memory_bytes_max, program.peak_bytes);
    run_training(between, second);
    ASSERT_EQ(first.checkpoints.size(), second.checkpoints.size());
    EXPECT_EQ(std::int64_t(first.checkpoints.size()), first.step());
    for (std::size_t i = 0; i < first.checkpoints.size(); ++i) {
        EXPECT_EQ(first.checkpoints[i].name, second.checkpoints[i].name);
        EXPECT_EQ(first.checkpoints[i].files.at(0).sha256,
                  second.checkpoints[i].files.at(0).sha256);
        EXPECT_EQ(first.checkpoints[i].files.at(1).sha256,
                  second.checkpoints[i].files.at(1).sha256);
    }
}

}    // namespace
}    // namespace slipway

// Goal: a job trains in each precision, with the laws of f32: the same bits after a resume, on any
// number of threads, and on one core as on eight. Method: whole runs on a small table; how near the
// losses are to those in f32 is judged in test_loss_curves.cpp.
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "tests/executor/train/run_fixture.h"

namespace slipway {
namespace {

constexpr std::array precisions{Precision::f32, Precision::bf16, Precision::bf16_true};

class RunPrecision : public Run {
protected:
    AttemptPlan plan_in(Precision precision, std::int64_t cores = 8) {
        AttemptPlan one = plan(cores);
        one.spec.train.precision = precision;
        return one;
    }
};

TEST_F(RunPrecision, every_precision_learns) {
    for (const Precision precision : precisions) {
        KeepingReporter reporter;
        run_training(plan_in(precision), reporter);
        EXPECT_LT(reporter.values_of("val_loss").back(), 0.5) << to_string(precision);
    }
}

TEST_F(RunPrecision, resumed_it_ends_with_the_same_bits) {
    for (const Precision precision : precisions) {
        const AttemptPlan undisturbed = plan_in(precision);
        KeepingReporter whole;
        run_training(undisturbed, whole);
        AttemptPlan broken = plan_in(precision);
        EXPECT_EQ(losses_of_broken_run(broken, 7), whole.values_of("train_loss"))
            << to_string(precision);
        expect_same_bits(broken, undisturbed);
    }
}

TEST_F(RunPrecision, neither_threads_nor_cores_change_a_bit) {
    for (const Precision precision : precisions) {
        const AttemptPlan reference = plan_in(precision, 1);
        KeepingReporter alone;
        run_training(reference, alone);
        for (const int threads : {1, 2, 8}) {
            AttemptPlan other = plan_in(precision, 8);
            other.worker_threads = threads;
            KeepingReporter reporter;
            run_training(other, reporter);
            EXPECT_EQ(reporter.values_of("train_loss"), alone.values_of("train_loss"));
            EXPECT_EQ(reporter.values_of("val_loss"), alone.values_of("val_loss"));
            expect_same_bits(other, reference);
        }
    }
}

TEST_F(RunPrecision, each_precision_has_programs_of_its_own) {
    std::set<std::string> hashes;
    for (const Precision precision : precisions) {
        KeepingReporter reporter;
        run_training(plan_in(precision), reporter);
        for (const CompiledProgram& program : reporter.programs)
            hashes.insert(program.hash);
    }
    EXPECT_EQ(hashes.size(), 6U);    // a training and an evaluation step in each
}

}    // namespace
}    // namespace slipway

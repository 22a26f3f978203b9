// Runs whose replicas are in several members: threads of this process, each with an engine of its
// own and connected over loopback as processes of several hosts are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "executor/train/train_error.h"
#include "tests/executor/train/run_fixture.h"

namespace slipway {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class RunMembers : public Run {
protected:
    /// What a member said, and how it ended.
    struct Heard {
        KeepingReporter reporter;
        TrainOutcome outcome;
        std::string code, message;
    };

    AttemptPlan of_member(AttemptPlan plan, int rank, int count) {
        plan.member =
            MemberOrder{.rank = rank,
                        .hosts = {},
                        .rendezvous_folder = folder_.path() / ("meet_" + std::to_string(met_)),
                        .secret = "s",
                        .bind_address = "127.0.0.1",
                        .timeout_s = 60};
        for (int i = 0; i < count; ++i)
            plan.member->hosts.push_back("host-" + std::to_string(i));
        return plan;
    }

    using Change = std::function<void(int rank, AttemptPlan& plan, KeepingReporter& reporter)>;

    std::vector<Heard> train(const AttemptPlan& plan, int count, const Change& change = {}) {
        std::vector<Heard> heard(static_cast<std::size_t>(count));
        std::vector<std::jthread> threads;
        for (int rank = 0; rank < count; ++rank)
            threads.emplace_back([&, rank] {
                AttemptPlan own = of_member(plan, rank, count);
                Heard& mine = heard[std::size_t(rank)];
                if (change) change(rank, own, mine.reporter);
                try {
                    mine.outcome = run_training(own, mine.reporter);
                } catch (const TrainError& error) {
                    mine.code = error.reason();
                    mine.message = error.what();
                }
            });
        threads.clear();
        ++met_;
        return heard;
    }

    static void expect_same_bytes(const AttemptPlan& left, const AttemptPlan& right) {
        const auto a = weights_of(left), b = weights_of(right);
        ASSERT_EQ(a.size(), b.size());
        for (std::size_t i = 0; i < a.size(); ++i) {
            ASSERT_EQ(a[i].array.byte_count(), b[i].array.byte_count());
            EXPECT_EQ(std::memcmp(a[i].array.bytes(), b[i].array.bytes(),
                                  std::size_t(a[i].array.byte_count())),
                      0)
                << a[i].name;
        }
    }

    static void expect_same_state(const AttemptPlan& left, const AttemptPlan& right) {
        const auto state_of = [](const AttemptPlan& plan) {
            return load_checkpoint(*newest_checkpoint(plan.checkpoint_folder)).value().optimizer;
        };
        const auto a = state_of(left), b = state_of(right);
        ASSERT_EQ(a.size(), b.size());
        for (std::size_t i = 0; i < a.size(); ++i)
            EXPECT_TRUE(std::ranges::equal(a[i].array.as<float>(), b[i].array.as<float>()))
                << a[i].name;
    }

    /// A network one of whose weights is large enough for members to update a shard each.
    AttemptPlan wide_plan(std::int64_t cores) {
        AttemptPlan plan = plan_of(cores);
        plan.spec.model.arch = Arch::layers;
        plan.spec.model.layers = {{.type = LayerType::linear, .out_features = 260},
                                  {.type = LayerType::relu},
                                  {.type = LayerType::linear, .out_features = 270},
                                  {.type = LayerType::relu},
                                  {.type = LayerType::linear}};
        return plan;
    }

    /// Trains alone with all cores, and as members; both must end with the same numbers.
    void expect_bits_of_one_process(AttemptPlan whole, int members) {
        whole.worker_threads = 2;
        KeepingReporter alone;
        run_training(whole, alone);
        AttemptPlan divided = whole;
        divided.checkpoint_folder = folder_.path() / fmt::format("members_{}", met_);
        const std::vector<Heard> heard = train(divided, members);
        for (const Heard& each : heard)
            ASSERT_EQ(each.message, "");
        expect_same_bytes(whole, divided);
        expect_same_state(whole, divided);
        for (const char* name : {"train_loss", "val_loss"})
            EXPECT_EQ(heard[0].reporter.values_of(name), alone.values_of(name)) << name;
        EXPECT_FALSE(alone.points.empty());
        for (int rank = 1; rank < members; ++rank) {
            EXPECT_TRUE(heard[std::size_t(rank)].reporter.points.empty()) << rank;
            EXPECT_TRUE(heard[std::size_t(rank)].reporter.checkpoints.empty()) << rank;
        }
    }

    AttemptPlan plan_of(std::int64_t cores) {
        AttemptPlan plan = Run::plan(1);
        plan.spec.train.batch_size_per_core = 1;
        plan.spec.accelerator.cores = cores;
        plan.spec.train.epochs = 1;
        return plan;
    }

    static AttemptPlan exchanging(AttemptPlan plan) {
        plan.spec.accelerator.slice = SliceSpec{.cores = plan.spec.accelerator.cores,
                                                .gradient_exchange = GradientExchange::bf16};
        return plan;
    }

private:
    int met_ = 0;
};

// Goal: 16 replicas in two members, 32 in four, have the bits of one process.
// Method: a network whose gradients are batched products, and evaluation over all members.
TEST_F(RunMembers, have_the_bits_of_one_process) {
    AttemptPlan plan = plan_of(16);
    plan.spec.train.optimizer.clip_norm = 0.5;
    plan.spec.model.dropout = 0.2;
    expect_bits_of_one_process(plan, 2);
    expect_bits_of_one_process(plan_of(32), 4);
}

// Goal: batch norm over all cores, and an evaluation that keeps rows, reach over all members.
TEST_F(RunMembers, with_synced_batch_norm_have_the_bits_of_one_process) {
    for (const bool synced : {true, false}) {
        AttemptPlan plan = plan_of(16);
        plan.spec.model.arch = Arch::layers;
        plan.spec.model.layers = {{.type = LayerType::linear, .out_features = 8},
                                  {.type = LayerType::batch_norm},
                                  {.type = LayerType::relu},
                                  {.type = LayerType::linear}};
        plan.spec.model.sync_batch_norm = synced;
        plan.spec.train.batch_size_per_core = 2;
        plan.spec.train.grad_accumulation = 2;
        expect_bits_of_one_process(plan, 2);
    }
}

// Goal: gradients that travel as bf16 are rounded where one process rounds them, whatever makes
// them: batched products, sums of cores, several batches of a step; and nowhere else.
TEST_F(RunMembers, that_exchange_bf16_have_the_bits_of_one_process) {
    for (const bool synced : {true, false}) {
        AttemptPlan plan = exchanging(plan_of(16));
        plan.spec.model.arch = Arch::layers;
        plan.spec.model.layers = {{.type = LayerType::linear, .out_features = 8},
                                  {.type = LayerType::batch_norm},
                                  {.type = LayerType::relu},
                                  {.type = LayerType::linear}};
        plan.spec.model.sync_batch_norm = synced;
        plan.spec.train.batch_size_per_core = 2;
        plan.spec.train.grad_accumulation = synced ? 2 : 1;
        expect_bits_of_one_process(plan, 2);
    }
    AttemptPlan plan = exchanging(plan_of(32));
    plan.spec.train.optimizer.clip_norm = 0.5;
    expect_bits_of_one_process(plan, 4);
}

TEST_F(RunMembers, that_exchange_bf16_learn_about_the_same) {
    AttemptPlan plain = plan_of(16), rounded = exchanging(plan_of(16));
    plain.spec.train.epochs = rounded.spec.train.epochs = 3;
    rounded.checkpoint_folder = folder_.path() / "rounded";
    KeepingReporter of_plain, of_rounded;
    run_training(plain, of_plain);
    run_training(rounded, of_rounded);
    const auto plain_loss = of_plain.values_of("train_loss");
    const auto rounded_loss = of_rounded.values_of("train_loss");
    ASSERT_EQ(plain_loss.size(), rounded_loss.size());
    EXPECT_NE(plain_loss, rounded_loss);
    EXPECT_NEAR(plain_loss.back(), rounded_loss.back(), 0.01 * plain_loss.back());
}

// Goal: members that round differently do not begin.
TEST_F(RunMembers, that_exchange_other_types_are_named) {
    const auto heard = train(plan_of(16), 2, [&](int rank, AttemptPlan& plan, KeepingReporter&) {
        if (rank == 1) plan = exchanging(plan);
    });
    for (const Heard& each : heard) {
        EXPECT_EQ(each.code, "members_differ");
        EXPECT_THAT(each.message, HasSubstr("the spec"));
    }
}

TEST_F(RunMembers, of_a_language_model_have_the_bits_of_one_process) {
    AttemptPlan plan = plan_of(16);
    plan.spec.model.arch = Arch::bert_tiny;
    plan.spec.task = {.type = *language_task(plan.spec.model.arch),
                      .metrics = {TaskMetric::loss, TaskMetric::perplexity}};
    plan.spec.data.max_length = 8;
    plan.spec.data.split.train_part = "train";
    plan.spec.data.split.val_part = "valid";
    plan.spec.train.epochs = 1;
    plan.spec.train.optimizer.lr = 0.001;
    plan.dataset_format = "text";
    std::string text;
    while (text.size() < 8 * 32 + 3)
        text += "to be or not to be, ";
    folder_.write("text/train.txt", text);
    folder_.write("text/valid.txt", text.substr(0, 90));
    plan.dataset_path = folder_.path() / "text";
    expect_bits_of_one_process(plan, 2);
}

// Goal: members that update a shard of the weights each end with the bits of one process that
// updates all, weights and optimizer state, whatever the optimizer and whoever else reads the
// gradients or the state.
TEST_F(RunMembers, that_update_shards_have_the_bits_of_one_process) {
    struct Case {
        OptimizerName optimizer;
        double momentum = 0;
        bool clips = false, averages = false;
        std::int64_t accumulation = 1;
        bool bf16 = false;
    };
    const std::vector<Case> cases{{.optimizer = OptimizerName::sgd},
                                  {.optimizer = OptimizerName::sgd, .momentum = 0.9},
                                  {.optimizer = OptimizerName::adam, .averages = true},
                                  {.optimizer = OptimizerName::adamw, .accumulation = 2},
                                  {.optimizer = OptimizerName::adamw, .bf16 = true},
                                  {.optimizer = OptimizerName::adamw, .clips = true},
                                  {.optimizer = OptimizerName::lamb}};
    for (const Case& each : cases) {
        SCOPED_TRACE(&each - cases.data());
        AttemptPlan plan = wide_plan(16);
        plan.spec.train.optimizer.name = each.optimizer;
        plan.spec.train.optimizer.momentum = each.momentum;
        plan.spec.train.optimizer.weight_decay = 0.01;
        if (each.clips) plan.spec.train.optimizer.clip_norm = 0.5;
        if (each.averages) plan.spec.train.ema = EmaSpec{};
        plan.spec.train.grad_accumulation = each.accumulation;
        if (each.bf16) plan.spec.train.precision = Precision::bf16;
        expect_bits_of_one_process(plan, 2);
    }
    expect_bits_of_one_process(wide_plan(32), 4);
}

// Goal: a checkpoint of members that hold a shard of the state each is that of one process, and
// goes on as either.
TEST_F(RunMembers, that_update_shards_go_on_in_one_process_and_back) {
    AttemptPlan whole = wide_plan(16);
    whole.spec.train.epochs = 2;
    KeepingReporter alone;
    run_training(whole, alone);
    for (const bool members_begin : {true, false}) {
        AttemptPlan broken = whole;
        broken.checkpoint_folder =
            folder_.path() / (members_begin ? "members_begin" : "members_end");
        KeepingReporter stopped, ended;
        stopped.stop_at_step = 5;
        if (members_begin)
            train(broken, 2, [](int rank, AttemptPlan&, KeepingReporter& reporter) {
                if (rank == 0) reporter.stop_at_step = 5;
            });
        else
            run_training(broken, stopped);
        broken.resume_from = newest_checkpoint(broken.checkpoint_folder);
        broken.attempt = 2;
        if (members_begin)
            run_training(broken, ended);
        else
            train(broken, 2);
        expect_same_bytes(whole, broken);
        expect_same_state(whole, broken);
    }
}

TEST_F(RunMembers, stop_at_the_same_step_and_go_on_with_the_same_bits) {
    AttemptPlan whole = plan_of(16), divided;
    whole.spec.train.epochs = 2;
    divided = whole;
    KeepingReporter alone;
    run_training(whole, alone);
    divided.checkpoint_folder = folder_.path() / "stopped";
    // Only rank 0 has a curve to stop at; all stop.
    auto heard = train(divided, 2, [](int rank, AttemptPlan&, KeepingReporter& reporter) {
        if (rank == 0) reporter.stop_at_step = 5;
    });
    for (const Heard& each : heard) {
        EXPECT_EQ(each.message, "");
        EXPECT_EQ(each.outcome.stopped, StopReason::drain);
        EXPECT_EQ(each.outcome.step, 5);
    }
    divided.resume_from = newest_checkpoint(divided.checkpoint_folder);
    divided.attempt = 2;
    heard = train(divided, 2);
    EXPECT_EQ(heard[1].outcome.stopped, StopReason::none);
    expect_same_bytes(whole, divided);
}

// Goal: members that would train different things do not begin.
TEST_F(RunMembers, that_differ_are_named) {
    const auto heard = train(plan_of(16), 2, [&](int rank, AttemptPlan& plan, KeepingReporter&) {
        if (rank == 1) plan.spec.train.seed = 4;
    });
    for (const Heard& each : heard) {
        EXPECT_EQ(each.code, "members_differ");
        EXPECT_THAT(each.message, AllOf(HasSubstr("the spec"), HasSubstr("rank 1 (host-1)")));
    }
}

// Goal: members whose files have the same shape and other values do not begin.
TEST_F(RunMembers, that_have_other_data_are_named) {
    std::string changed = table();
    const std::size_t digit = changed.find_last_of("0123456789");
    changed[digit] = changed[digit] == '1' ? '2' : '1';
    const auto other = folder_.write("other/points.csv", changed);
    const auto heard = train(plan_of(16), 2, [&](int rank, AttemptPlan& plan, KeepingReporter&) {
        if (rank == 1) plan.dataset_path = other;
    });
    for (const Heard& each : heard) {
        EXPECT_EQ(each.code, "members_differ");
        EXPECT_THAT(each.message,
                    AllOf(HasSubstr("the content of the data"), HasSubstr("rank 1 (host-1)")));
    }
}

// Goal: a member that cannot go on ends the others, with its name.
TEST_F(RunMembers, end_when_one_has_ended) {
    const auto heard = train(plan_of(16), 2, [&](int rank, AttemptPlan& plan, KeepingReporter&) {
        if (rank == 1) plan.dataset_path = folder_.path() / "nothing_here.csv";
    });
    EXPECT_EQ(heard[1].code, "data_error");
    EXPECT_EQ(heard[0].code, "member_lost");
    EXPECT_THAT(heard[0].message,
                AllOf(HasSubstr("rank 1 (host-1)"), HasSubstr("the start of training")));
}

}    // namespace
}    // namespace slipway

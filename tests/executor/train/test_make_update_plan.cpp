#include "executor/train/make_update_plan.h"

#include <gtest/gtest.h>

#include "executor/train/train_error.h"

namespace slipway {
namespace {

ParameterList parameters() {
    ParameterList list;
    list.add("conv1.weight", Array({DType::f32, {4, 3, 3, 3}}));
    list.add("bn1.weight", Array({DType::f32, {4}}));
    list.add("bn1.bias", Array({DType::f32, {4}}));
    list.add("fc.weight", Array({DType::f32, {2, 4}}));
    list.add("fc.bias", Array({DType::f32, {2}}));
    return list;
}

std::string letters(const JobSpec& spec) {
    const UpdatePlan plan = make_update_plan(spec, parameters());
    std::string text;
    for (const ParameterRule& rule : plan.rules)
        text +=
            fmt::format("{}{}{} ", rule.trained ? 't' : '-', rule.decays ? 'd' : '-', rule.group);
    return text;
}

TEST(MakeUpdatePlan, all_parameters_are_trained_alike_by_default) {
    EXPECT_EQ(letters({}), "td0 td0 td0 td0 td0 ");
    const UpdatePlan plan = make_update_plan({}, parameters());
    EXPECT_EQ(plan.groups, 1U);
    EXPECT_FALSE(plan.clips || plan.averages);
    EXPECT_TRUE(plan.state_names().empty());
}

TEST(MakeUpdatePlan, names_and_ranks_choose_parameters) {
    JobSpec spec;
    spec.model.freeze = {"conv1.*", "bn1.*"};
    spec.train.optimizer.decay_exempt = {std::string(one_dimensional_word)};
    EXPECT_EQ(letters(spec), "-d0 --0 --0 td0 t-0 ");
    spec.model.freeze.clear();
    spec.train.optimizer.decay_exempt = {"*.bias", "conv1.weight"};
    EXPECT_EQ(letters(spec), "t-0 td0 t-0 td0 t-0 ");
}

TEST(MakeUpdatePlan, a_parameter_belongs_to_the_first_group_that_matches) {
    JobSpec spec;
    spec.train.optimizer.groups = {{"fc.*", 10}, {"*.bias", 2}};
    EXPECT_EQ(letters(spec), "td0 td0 td2 td1 td1 ");
    EXPECT_EQ(make_update_plan(spec, parameters()).groups, 3U);
}

TEST(MakeUpdatePlan, a_tied_parameter_goes_by_either_of_its_names) {
    ParameterList list = parameters();
    list.add_alias("decoder.weight", "fc.weight");
    JobSpec spec;
    spec.model.freeze = {"decoder.*"};
    EXPECT_EQ(make_update_plan(spec, list).rules[3].trained, false);
}

TEST(MakeUpdatePlan, every_optimizer_has_its_row) {
    struct Case {
        OptimizerSpec spec;
        const char* row;
    };
    for (const Case& one : {Case{{.name = OptimizerName::sgd}, "sgd"},
                            Case{{.name = OptimizerName::sgd, .momentum = 0.9}, "sgd_momentum"},
                            Case{{.momentum = 0.9, .nesterov = true}, "sgd_nesterov"},
                            Case{{.name = OptimizerName::adam}, "adam"},
                            Case{{.name = OptimizerName::adamw}, "adamw"},
                            Case{{.name = OptimizerName::lamb}, "lamb"}}) {
        JobSpec spec;
        spec.train.optimizer = one.spec;
        EXPECT_EQ(make_update_plan(spec, parameters()).optimizer->name, one.row);
    }
}

TEST(MakeUpdatePlan, a_pattern_that_matches_nothing_is_named) {
    struct Case {
        const char* field;
        void (*spoil)(JobSpec&);
    };
    for (const Case& one : {Case{"model.freeze[1]",
                                 [](JobSpec& s) {
                                     s.model.freeze = {"fc.*", "layer9.*"};
                                 }},
                            Case{"train.optimizer.decay_exempt[0]",
                                 [](JobSpec& s) { s.train.optimizer.decay_exempt = {"layer9.*"}; }},
                            Case{"train.optimizer.groups[0].match", [](JobSpec& s) {
                                     s.train.optimizer.groups = {{"layer9.*", 2}};
                                 }}}) {
        JobSpec spec;
        one.spoil(spec);
        try {
            make_update_plan(spec, parameters());
            ADD_FAILURE() << one.field;
        } catch (const TrainError& error) {
            EXPECT_EQ(error.reason(), "spec_error");
            const std::string message = error.what();
            EXPECT_NE(message.find(one.field), message.npos) << message;
            EXPECT_NE(message.find("layer9.*"), message.npos) << message;
        }
    }
}

TEST(MakeUpdatePlan, something_must_be_left_to_train) {
    JobSpec spec;
    spec.model.freeze = {"*"};
    EXPECT_THROW(make_update_plan(spec, parameters()), TrainError);
}

}    // namespace
}    // namespace slipway

#include "api/spec/checkpoint_writer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace slipway {
namespace {

const CheckpointWriter ours{
    .program = "slipway-executor 0.1.0", .build = "ab12", .instruction_set = "avx512_core"};

TEST(CheckpointWriter, says_who_wrote_it_and_in_what_form) {
    EXPECT_EQ(read_checkpoint_writer(to_json(ours)), ours);
    Json wide = to_json(ours);
    wide["program"] = std::string(5000, 'x');
    EXPECT_EQ(read_checkpoint_writer(wide)->program.size(), 200U);
}

TEST(CheckpointWriter, what_is_no_writer_is_none) {
    EXPECT_EQ(read_checkpoint_writer(nullptr), std::nullopt);
    EXPECT_EQ(read_checkpoint_writer(Json::array()), std::nullopt);
    for (const auto& [member, value] : {std::pair<const char*, Json>{"format", 0},
                                        {"format", -1},
                                        {"format", 1.5},
                                        {"format", "1"},
                                        {"format", 99999999},
                                        {"spec_version", nullptr},
                                        {"program", 7},
                                        {"build", Json::object()}}) {
        Json odd = to_json(ours);
        odd[member] = value;
        EXPECT_EQ(read_checkpoint_writer(odd), std::nullopt) << odd.dump();
    }
}

// Goal: a checkpoint of a build that did not say what it computed with can be read.
TEST(CheckpointWriter, another_instruction_set_is_named_where_it_is_known) {
    EXPECT_EQ(other_instruction_set(ours, "step_5", "avx512_core"), "");
    EXPECT_EQ(other_instruction_set(ours, "step_5", "avx2"),
              "checkpoint step_5 was computed with avx512_core, and this host computes with avx2: "
              "the last digits of weights and metrics will differ from those of a run on one kind "
              "of processor");
    Json old = to_json(ours);
    old.erase("instruction_set");
    ASSERT_TRUE(read_checkpoint_writer(old).has_value());
    EXPECT_EQ(other_instruction_set(*read_checkpoint_writer(old), "step_5", "avx2"), "");
}

TEST(CheckpointWriter, an_incompatible_one_is_named_with_what_is_read) {
    EXPECT_EQ(incompatibility(ours, "ckp_1"), "");
    CheckpointWriter later = ours;
    later.format = checkpoint_format_version + 1;
    EXPECT_EQ(incompatibility(later, "ckp_1"),
              "checkpoint ckp_1 (written by slipway-executor 0.1.0) has format 2, and this build "
              "reads 1; use a build that reads it");
    later = ours;
    later.spec_version = job_spec_version + 1;
    EXPECT_NE(incompatibility(later, "ckp_1").find("job spec of version 2"), std::string::npos);
}

}    // namespace
}    // namespace slipway

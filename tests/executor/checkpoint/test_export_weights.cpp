// Goal: what is exported is what a checkpoint holds, under every name that another framework asks
// for, in the type that was asked for.
#include "executor/checkpoint/export_weights.h"

#include <gtest/gtest.h>

#include <array>
#include <map>

#include "executor/checkpoint/checkpoint.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

/// A third is no bf16, two and three quarters is.
constexpr std::array average{1.0F / 3, 2.75F}, raw{7.0F, 8.0F};

struct ExportWeights : testing::Test {
    TempFolder folder;
    Checkpoint checkpoint{
        .state = {.details = R"({"aliases": {"head.weight": "table.weight"}})"},
        .weights = {{"table.weight", array_of<float>({2, 1}, average)},
                    {"norm.num_batches_tracked",
                     array_of<std::int64_t>({}, std::array{std::int64_t{41}})}},
        .optimizer = {{"table.weight.exp_avg", array_of<float>({2, 1}, std::array{0.5F, 0.5F})},
                      {"table.weight.raw", array_of<float>({2, 1}, raw)}}};

    std::filesystem::path save() const {
        save_checkpoint(folder.path(), "step_1", checkpoint);
        return folder.path() / "step_1";
    }
    Safetensors exported(const ExportOptions& options) {
        const auto file = folder.path() / "weights.safetensors";
        export_weights(save(), file, options);
        return read_safetensors(file).value();
    }
};

template <class T>
std::vector<float> values_of(const Safetensors& file, const std::string& name) {
    for (const NamedArray& tensor : file.tensors) {
        if (tensor.name != name) continue;
        const auto values = tensor.array.as<T>();
        return {values.begin(), values.end()};
    }
    ADD_FAILURE() << name << " is not there";
    return {};
}

TEST_F(ExportWeights, are_those_that_evaluations_measured_under_all_their_names) {
    const Safetensors file = exported({});
    EXPECT_EQ(file.metadata, (std::map<std::string, std::string>{{"format", "pt"}}));
    ASSERT_EQ(file.tensors.size(), 3U);
    for (const char* name : {"table.weight", "head.weight"})
        EXPECT_EQ(values_of<float>(file, name), std::vector<float>(average.begin(), average.end()));
    EXPECT_EQ(values_of<std::int64_t>(file, "norm.num_batches_tracked"), std::vector<float>{41});
}

TEST_F(ExportWeights, may_be_those_that_training_goes_on_with) {
    const Safetensors file = exported({.raw = true});
    for (const char* name : {"table.weight", "head.weight"})
        EXPECT_EQ(values_of<float>(file, name), std::vector<float>(raw.begin(), raw.end()));
}

TEST_F(ExportWeights, are_rounded_to_bf16_but_for_counts) {
    const Safetensors file = exported({.dtype = DType::bf16});
    EXPECT_EQ(values_of<BFloat16>(file, "head.weight"), (std::vector{0.333984375F, 2.75F}));
    EXPECT_EQ(values_of<std::int64_t>(file, "norm.num_batches_tracked"), std::vector<float>{41});
}

TEST_F(ExportWeights, of_an_alias_of_nothing_are_refused) {
    checkpoint.state.details = R"({"aliases": {"head.weight": "other.weight"}})";
    EXPECT_THROW(exported({}), Error);
}

TEST_F(ExportWeights, of_a_damaged_checkpoint_are_refused) {
    const auto path = save();
    std::filesystem::resize_file(path / "model.safetensors", 100);
    EXPECT_THROW(export_weights(path, folder.path() / "weights.safetensors", {}), Error);
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "weights.safetensors"));
}

}    // namespace
}    // namespace slipway

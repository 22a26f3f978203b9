// Goal: a state dict of BERT or GPT-2 travels to and from Hugging Face's classes with nothing
// renamed.
// Method: the names and shapes that BertForMaskedLM and GPT2LMHeadModel document, written down here
// once more for every depth that a job can ask for; what costs memory and tells no more is
// narrower.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "executor/nn/models/bert.h"
#include "executor/nn/models/gpt2.h"

namespace slipway {
namespace {

using Names = std::map<std::string, Dims>;

constexpr std::int64_t vocabulary = 1000;

Names names_of(const ParameterList& parameters) {
    Names names;
    for (const Parameter& parameter : parameters.all())
        names[parameter.name] = parameter.input.dims();
    return names;
}

std::map<std::string, std::string> aliases_of(const ParameterList& parameters) {
    std::map<std::string, std::string> aliases;
    for (const ParameterAlias& alias : parameters.aliases())
        aliases[alias.name] = alias.parameter;
    return aliases;
}

struct Size {
    const char* name;
    std::int64_t layers, hidden, heads;
};

class BertNames : public testing::TestWithParam<Size> {};

TEST_P(BertNames, are_those_of_bert_for_masked_lm) {
    const auto [name, layers, h, heads] = GetParam();
    ParameterList parameters;
    Init init = Init::zeros();
    Bert::create(parameters, init,
                 {.layers = layers,
                  .hidden = h,
                  .heads = heads,
                  .vocabulary = vocabulary,
                  .intermediate = 4 * h});
    Names expected{{"bert.embeddings.word_embeddings.weight", {vocabulary, h}},
                   {"bert.embeddings.position_embeddings.weight", {512, h}},
                   {"bert.embeddings.token_type_embeddings.weight", {2, h}},
                   {"bert.embeddings.LayerNorm.weight", {h}},
                   {"bert.embeddings.LayerNorm.bias", {h}},
                   {"cls.predictions.bias", {vocabulary}},
                   {"cls.predictions.transform.dense.weight", {h, h}},
                   {"cls.predictions.transform.dense.bias", {h}},
                   {"cls.predictions.transform.LayerNorm.weight", {h}},
                   {"cls.predictions.transform.LayerNorm.bias", {h}}};
    for (std::int64_t i = 0; i < layers; ++i) {
        const Names of_layer{
            {"attention.self.query.weight", {h, h}},    {"attention.self.query.bias", {h}},
            {"attention.self.key.weight", {h, h}},      {"attention.self.key.bias", {h}},
            {"attention.self.value.weight", {h, h}},    {"attention.self.value.bias", {h}},
            {"attention.output.dense.weight", {h, h}},  {"attention.output.dense.bias", {h}},
            {"attention.output.LayerNorm.weight", {h}}, {"attention.output.LayerNorm.bias", {h}},
            {"intermediate.dense.weight", {4 * h, h}},  {"intermediate.dense.bias", {4 * h}},
            {"output.dense.weight", {h, 4 * h}},        {"output.dense.bias", {h}},
            {"output.LayerNorm.weight", {h}},           {"output.LayerNorm.bias", {h}}};
        for (const auto& [part, dims] : of_layer)
            expected[fmt::format("bert.encoder.layer.{}.{}", i, part)] = dims;
    }
    EXPECT_EQ(names_of(parameters), expected);
    EXPECT_EQ(aliases_of(parameters),
              (std::map<std::string, std::string>{
                  {"cls.predictions.decoder.weight", "bert.embeddings.word_embeddings.weight"},
                  {"cls.predictions.decoder.bias", "cls.predictions.bias"}}));
}

INSTANTIATE_TEST_SUITE_P(Sizes, BertNames,
                         testing::Values(Size{"tiny", 2, 128, 2}, Size{"small", 4, 512, 8},
                                         Size{"as_deep_as_base", 12, 24, 12},
                                         Size{"as_deep_as_large", 24, 32, 16}),
                         [](const auto& one) { return one.param.name; });

class Gpt2Names : public testing::TestWithParam<Size> {};

TEST_P(Gpt2Names, are_those_of_gpt2_lm_head_model) {
    const auto [name, layers, h, heads] = GetParam();
    ParameterList parameters;
    Init init = Init::zeros();
    Gpt2::create(parameters, init,
                 {.layers = layers, .hidden = h, .heads = heads, .vocabulary = vocabulary});
    Names expected{{"transformer.wte.weight", {vocabulary, h}},
                   {"transformer.wpe.weight", {1024, h}},
                   {"transformer.ln_f.weight", {h}},
                   {"transformer.ln_f.bias", {h}}};
    for (std::int64_t i = 0; i < layers; ++i) {
        // The projections' weights lie as [in, out].
        const Names of_block{{"ln_1.weight", {h}},
                             {"ln_1.bias", {h}},
                             {"attn.c_attn.weight", {h, 3 * h}},
                             {"attn.c_attn.bias", {3 * h}},
                             {"attn.c_proj.weight", {h, h}},
                             {"attn.c_proj.bias", {h}},
                             {"ln_2.weight", {h}},
                             {"ln_2.bias", {h}},
                             {"mlp.c_fc.weight", {h, 4 * h}},
                             {"mlp.c_fc.bias", {4 * h}},
                             {"mlp.c_proj.weight", {4 * h, h}},
                             {"mlp.c_proj.bias", {h}}};
        for (const auto& [part, dims] : of_block)
            expected[fmt::format("transformer.h.{}.{}", i, part)] = dims;
    }
    EXPECT_EQ(names_of(parameters), expected);
    EXPECT_EQ(aliases_of(parameters),
              (std::map<std::string, std::string>{{"lm_head.weight", "transformer.wte.weight"}}));
}

INSTANTIATE_TEST_SUITE_P(Sizes, Gpt2Names,
                         testing::Values(Size{"gpt_tiny", 4, 128, 4},
                                         Size{"as_deep_as_gpt2", 12, 24, 12}),
                         [](const auto& one) { return one.param.name; });

}    // namespace
}    // namespace slipway

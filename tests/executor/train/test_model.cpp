// Goal: each architecture of the job spec is its reference's network, and what does not fit is
// refused with the field to change.
// Method: names and shapes beside tests/executor/nn/reference/networks.json.
#include "executor/train/model.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "executor/train/settings.h"
#include "executor/train/train_error.h"

namespace slipway {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t classes = 10;

Json reference_names(const std::string& arch) {
    static const Json all =
        Json::parse(std::ifstream(SLIPWAY_SOURCE_DIR "/tests/executor/nn/reference/networks.json"));
    return all.at("full").at(arch);
}

JobSpec spec_of(Arch arch) {
    JobSpec spec;
    spec.model.arch = arch;
    return spec;
}

Json names_of(const Model& model) {
    Json names = Json::object();
    for (const auto* list : {&model.parameters.all(), &model.parameters.statistics()})
        for (const Parameter& parameter : *list)
            names[parameter.name] = parameter.input.dims();
    for (const BatchCount& count : model.parameters.batch_counts())
        names[count.name] = Json::array();
    return names;
}

class Architecture : public testing::TestWithParam<Arch> {};

TEST_P(Architecture, has_the_names_and_shapes_of_its_reference) {
    const Model model = build_model(spec_of(GetParam()), {3, 64, 64}, classes, Init::zeros());
    const Json expected = reference_names(std::string(to_string(GetParam())));
    EXPECT_EQ(names_of(model), expected) << Json::diff(expected, names_of(model)).dump(1);
}

TEST_P(Architecture, makes_logits_of_gray_images_too) {
    const Model model = build_model(spec_of(GetParam()), {1, 64, 64}, classes, Init::zeros());
    ForwardPass pass;
    const Tensor x = input({DType::f32, {2, 1, 64, 64}}, Placement::per_core, "x");
    EXPECT_EQ(model.forward(x, pass).dims(), (Dims{2, classes}));
}

INSTANTIATE_TEST_SUITE_P(Images, Architecture,
                         testing::Values(Arch::resnet18, Arch::resnet34, Arch::resnet50,
                                         Arch::vit_tiny, Arch::vit_small, Arch::vit_base,
                                         Arch::mixer_s16, Arch::mixer_b16),
                         [](const auto& one) { return std::string(to_string(one.param)); });

struct LanguageSize {
    Arch arch;
    std::int64_t layers, hidden, positions;
};

// The wide ones are built by tests/executor/nn/test_networks.cpp; their rows differ in numbers
// alone.
TEST(Model, language_models_have_the_published_sizes) {
    const std::vector<LanguageSize> sizes{{Arch::bert_tiny, 2, 128, 512},
                                          {Arch::bert_small, 4, 512, 512},
                                          {Arch::gpt_tiny, 4, 128, 1024}};
    for (const auto& [arch, layers, hidden, positions] : sizes) {
        constexpr std::int64_t length = 16, tokens = 50;
        const Model model =
            build_model(spec_of(arch), {length}, tokens, Init::zeros(), {.padding = 0});
        const bool is_bert = model.head == "cls";
        const std::int64_t of_layer = 12 * hidden * hidden + 13 * hidden;
        const std::int64_t of_rest =
            is_bert ? 4 * hidden + hidden * hidden + 3 * hidden + tokens : 2 * hidden;
        EXPECT_EQ(model.parameters.element_count(),
                  (tokens + positions) * hidden + layers * of_layer + of_rest)
            << to_string(arch);
        EXPECT_EQ(model.dropout, 0.1);
        ForwardPass pass;
        const Tensor x = input({DType::i32, {2, length}}, Placement::per_core, "x");
        EXPECT_EQ(model.forward(x, pass).dims(), (Dims{2, length, tokens}));
    }
}

TEST(Model, a_language_model_may_know_more_than_its_text_has) {
    JobSpec spec = spec_of(Arch::bert_tiny);
    spec.model.vocab_size = 60;
    spec.model.max_length = 20;
    const Model model = build_model(spec, {16}, 50, Init::zeros(), {.padding = 0});
    EXPECT_EQ(model.parameters.all()[0].input.dims(), (Dims{60, 128}));
    EXPECT_EQ(model.parameters.all()[1].input.dims(), (Dims{20, 128}));
}

/// The heads of a network's first attention, whose result is [batch, heads, tokens, features].
std::int64_t heads_of(const JobSpec& spec, const Dims& sample) {
    const Model model = build_model(spec, sample, 50, Init::zeros(), {.padding = 0});
    ForwardPass pass;
    Dims dims = sample;
    dims.insert(dims.begin(), 2);
    const DType dtype = language_task(spec.model.arch) ? DType::i32 : DType::f32;
    const Tensor y = model.forward(input({dtype, dims}, Placement::per_core, "x"), pass);
    for (const Tensor& node : topological_order({&y, 1})) {
        const auto* composite = std::get_if<CompositeAttributes>(&node.node().attributes);
        if (composite != nullptr && composite->name == "attention") return node.dims()[1];
    }
    ADD_FAILURE() << "there is no attention";
    return 0;
}

TEST(Model, attention_has_as_many_heads_as_asked) {
    for (const Arch arch : {Arch::bert_tiny, Arch::gpt_tiny, Arch::vit_tiny}) {
        JobSpec spec = spec_of(arch);
        const Dims sample = language_task(arch) ? Dims{16} : Dims{3, 32, 32};
        const std::int64_t published = heads_of(spec, sample);
        EXPECT_EQ(published, arch == Arch::bert_tiny ? 2 : arch == Arch::gpt_tiny ? 4 : 3);
        spec.model.heads = 8;
        EXPECT_EQ(heads_of(spec, sample), 8);
    }
}

TEST(Model, what_a_language_model_cannot_read_is_refused_with_the_way_out) {
    const auto refused = [](Arch arch, auto change) -> std::string {
        JobSpec spec = spec_of(arch);
        change(spec.model);
        try {
            build_model(spec, {16}, 50, Init::zeros(), {.padding = 0});
        } catch (const TrainError& error) {
            EXPECT_EQ(error.reason(), "spec_error");
            return error.what();
        }
        return "nothing";
    };
    EXPECT_NE(refused(Arch::bert_tiny, [](ModelSpec& spec) { spec.vocab_size = 49; })
                  .find("model.vocab_size is 49, and the tokenizer has 50 tokens"),
              std::string::npos);
    EXPECT_NE(refused(Arch::gpt_tiny, [](ModelSpec& spec) { spec.max_length = 15; })
                  .find("set data.max_length to at most 15, or model.max_length to at least 16"),
              std::string::npos);
    EXPECT_NE(refused(Arch::bert_tiny, [](ModelSpec& spec) { spec.heads = 3; })
                  .find("model.heads must divide the 128 features of bert_tiny, got 3"),
              std::string::npos);
    EXPECT_NE(refused(Arch::gpt_tiny, [](ModelSpec& spec) { spec.head.replace = true; })
                  .find("gpt_tiny has no head to replace"),
              std::string::npos);
}

struct Refused {
    Arch arch;
    Dims sample_dims;
    std::int64_t batch_size;
    const char* says;
};

TEST(Model, what_does_not_fit_is_refused_with_the_way_out) {
    const std::vector<Refused> cases{
        {Arch::resnet18, {4}, 32, "resnet18 needs images"},
        {Arch::vit_tiny, {4}, 32, "vit_tiny needs images"},
        {Arch::mixer_s16, {4}, 32, "mixer_s16 needs images"},
        {Arch::vit_tiny,
         {1, 28, 28},
         32,
         "got images of 28 x 28; set data.image_size to a multiple "
         "of 16, for instance 32"},
        {Arch::vit_base,
         {3, 32, 48},
         32,
         "got images of 32 x 48; set data.image_size to a multiple "
         "of 16, for instance 48"},
        {Arch::mixer_b16, {3, 100, 100}, 32, "for instance 112"},
        {Arch::resnet50, {3, 32, 32}, 1, "set train.batch_size_per_core to 2 or more"},
        {Arch::lenet, {1, 8, 8}, 32, "data.image_size"},
    };
    for (const Refused& one : cases) {
        JobSpec spec = spec_of(one.arch);
        spec.train.batch_size_per_core = one.batch_size;
        try {
            build_model(spec, one.sample_dims, classes, Init::zeros());
            ADD_FAILURE() << one.says << " was not said";
        } catch (const TrainError& error) {
            EXPECT_EQ(error.reason(), "spec_error");
            EXPECT_NE(std::string(error.what()).find(one.says), std::string::npos) << error.what();
        }
    }
}

TEST(Model, batch_norm_takes_one_sample_when_its_images_are_large) {
    JobSpec spec = spec_of(Arch::resnet18);
    spec.train.batch_size_per_core = 1;
    const Model model = build_model(spec, {3, 33, 32}, classes, Init::zeros());
    EXPECT_EQ(model.parameters.batch_counts().size(), 20U);
}

TEST(Model, each_of_several_cores_normalises_its_batch_as_a_whole) {
    JobSpec spec = spec_of(Arch::resnet18);
    constexpr int threads = 4;
    EXPECT_EQ(part_count(spec, threads), 8) << "one core: its parts together";
    spec.train.deterministic = false;
    EXPECT_EQ(part_count(spec, threads), 4);
    spec.accelerator.cores = 2;
    EXPECT_EQ(part_count(spec, threads), 2);
    spec.model.sync_batch_norm = true;
    EXPECT_EQ(part_count(spec, threads), 4);
    EXPECT_EQ(part_count(spec_of(Arch::vit_tiny), threads), 8);
}

}    // namespace
}    // namespace slipway

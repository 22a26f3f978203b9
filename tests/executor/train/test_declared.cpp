// Goal: the declared networks of docs/models.md train, resume and are stored as it says; ties are
// one parameter from the gradient to the checkpoint.
// Method: the documentation's own examples on small data; every error by its words.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "api/base/parsed_json.h"
#include "api/spec/documents.h"
#include "executor/train/initial_weights.h"
#include "executor/train/settings.h"
#include "executor/train/ties.h"
#include "executor/train/train_state.h"
#include "tests/executor/train/run_fixture.h"

namespace slipway {
namespace {

/// The JSON after `<!-- runs NAME -->` in docs/models.md.
JobSpec example(const std::string& name) {
    std::stringstream file;
    file << std::ifstream(SLIPWAY_SOURCE_DIR "/docs/models.md").rdbuf();
    const std::string text = file.str();
    const std::size_t mark = text.find("<!-- runs " + name + " -->");
    EXPECT_NE(mark, text.npos) << name;
    const std::size_t begin = text.find("```json\n", mark) + 8;
    const auto parsed = parse_json(text.substr(begin, text.find("```", begin) - begin)).value();
    const Decoded<JobSpec> decoded = decode_job_spec(parsed);
    EXPECT_TRUE(decoded.ok()) << joined_messages(decoded.problems);
    return decoded.value;
}

/// 24 gray images of 8 x 8: noise around a bright or a dark mean.
void write_images(const std::filesystem::path& folder) {
    const auto write = [&](const char* name, std::vector<std::uint8_t> bytes) {
        std::ofstream(folder / name, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
    };
    constexpr std::uint8_t count = 24, side = 8;
    std::vector<std::uint8_t> images{0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, side, 0, 0, 0, side};
    std::vector<std::uint8_t> labels{0, 0, 8, 1, 0, 0, 0, count};
    RandomStream stream(3, site_augment, 0);
    for (int image = 0; image < count; ++image) {
        labels.push_back(std::uint8_t(image % 2));
        for (int pixel = 0; pixel < side * side; ++pixel)
            images.push_back(std::uint8_t(100 * (image % 2) + int(100 * stream.next_uniform())));
    }
    std::filesystem::create_directories(folder);
    write("train-images-idx3-ubyte", images);
    write("train-labels-idx1-ubyte", labels);
}

class DeclaredRun : public Run {
protected:
    AttemptPlan plan_of(const std::string& name) {
        AttemptPlan chosen = plan();
        chosen.spec = example(name);
        chosen.spec.train.batch_size_per_core = 4;
        chosen.spec.train.epochs.reset();
        chosen.spec.train.steps = 4;
        chosen.spec.monitor.log_every_steps = 1;
        if (name == "images") {
            chosen.dataset_format = "idx";
            chosen.dataset_path = folder_.path() / "images";
            write_images(chosen.dataset_path);
        }
        return chosen;
    }
};

TEST_F(DeclaredRun, the_residual_network_of_the_documentation_trains) {
    const AttemptPlan plan = plan_of("images");
    KeepingReporter reporter;
    run_training(plan, reporter);
    EXPECT_EQ(reporter.values_of("train_loss").size(), 4U);
    EXPECT_EQ(reporter.values_of("val_loss").size(), 1U);
    std::vector<std::string> names;
    for (const NamedArray& tensor : weights_of(plan))
        names.push_back(tensor.name);
    EXPECT_EQ(std::ranges::count(names, "stem.conv.weight"), 1);
    EXPECT_EQ(std::ranges::count(names, "down.shortcut.1.running_mean"), 1);
    EXPECT_EQ(names.size(), 4U + 4 * 5 + 2) << "convolutions, batch norms, head";
    EXPECT_EQ(part_count(plan.spec, 4), 1) << "a core normalises its batch as a whole";
}

TEST_F(DeclaredRun, the_tied_network_of_the_documentation_trains_and_resumes) {
    AttemptPlan broken = plan_of("table");
    const AttemptPlan whole = plan_of("table");
    KeepingReporter reporter;
    run_training(whole, reporter);
    EXPECT_TRUE(std::ranges::any_of(reporter.logs, [](const std::string& line) {
        return line.starts_with("162 parameters, 64 tied (right.weight is left.weight), ");
    })) << reporter.logs.front();
    const std::vector<NamedArray> weights = weights_of(whole);
    EXPECT_EQ(weights.size(), 6U);
    EXPECT_EQ(std::ranges::count(weights, "right.weight", &NamedArray::name), 0);
    EXPECT_EQ(losses_of_broken_run(broken, 2), reporter.values_of("train_loss"));
    expect_same_bits(broken, whole);
}

Model build(const JobSpec& spec, std::int64_t features = 4) {
    return build_model(spec, {features}, 2, Init(1));
}

JobSpec two_layers(std::vector<std::array<std::string, 2>> tie) {
    JobSpec spec = example("table");
    spec.model.layers = {{.type = LayerType::linear, .name = "a", .out_features = 4},
                         {.type = LayerType::batch_norm, .name = "norm"},
                         {.type = LayerType::linear, .name = "b", .out_features = 4},
                         {.type = LayerType::linear, .name = "c"}};
    spec.model.tie = std::move(tie);
    return spec;
}

TEST(Ties, one_parameter_has_the_gradient_of_both_and_one_slot) {
    const Model model = build(two_layers({{"b.weight", "a.weight"}, {"b.bias", "norm.bias"}}));
    EXPECT_EQ(model.parameters.all().size(), 6U);
    EXPECT_EQ(model.head, "c");
    const TrainState state = initial_state(model, find_optimizer("adam"));
    EXPECT_EQ(state.values.size(), 6U * 3 + 2);
    EXPECT_EQ(describe_count(model.parameters),
              "38 parameters, 20 tied (b.weight is a.weight, b.bias is norm.bias)");
}

TEST(Ties, a_network_may_be_tied_that_is_not_declared) {
    JobSpec spec = two_layers({{"layers.1.weight", "layers.2.weight"}});
    spec.model.arch = Arch::mlp;
    spec.model.hidden = {{8, 8, 8}};
    EXPECT_EQ(build(spec).parameters.all().size(), 7U);
}

struct RefusedTie {
    std::vector<std::array<std::string, 2>> tie;
    std::string says;
};

TEST(Ties, what_cannot_be_tied_is_refused) {
    for (const RefusedTie& one : std::vector<RefusedTie>{
             {{{"a.weight", "b.wieght"}},
              "names b.wieght, and it has no such parameter; did you "
              "mean b.weight?"},
             {{{"norm.running_mean", "a.bias"}}, "a running statistic"},
             {{{"a.weight", "b.weight"}, {"a.weight", "c.weight"}},
              "model.tie[1] ties parameters of one shape, got a.weight f32[4,4] and c.weight "
              "f32[2,4]"}}) {
        try {
            build(two_layers(one.tie));
            ADD_FAILURE() << one.says << " was not said";
        } catch (const TrainError& error) {
            EXPECT_EQ(error.reason(), "spec_error");
            EXPECT_NE(std::string(error.what()).find(one.says), std::string::npos) << error.what();
        }
    }
}

TEST(Ties, a_head_that_is_replaced_is_not_tied_to_what_stays) {
    JobSpec spec = two_layers({{"a.bias", "b.bias"}});
    spec.model.layers.pop_back();
    spec.model.layers.back().out_features = 2;
    spec.model.layers.front().out_features = 2;
    spec.model.head.replace = true;
    EXPECT_THROW(build(spec), TrainError);
    spec.model.tie = {{"a.bias", "norm.bias"}};
    EXPECT_EQ(build(spec).head, "b");
}

TEST_F(DeclaredRun, tied_weights_are_read_under_either_name_and_never_two_of_them) {
    const auto array = [](float value) {
        return array_of<float>({4, 4}, std::vector<float>(16, value));
    };
    const Model source = build(two_layers({}));
    std::vector<NamedArray> tensors;
    for (const auto* list : {&source.parameters.all(), &source.parameters.statistics()})
        for (const Parameter& parameter : *list)
            tensors.push_back({parameter.name, parameter.value});
    const auto load = [&](std::optional<float> a, std::optional<float> b) {
        std::erase_if(tensors, [](const NamedArray& one) {
            return one.name == "a.weight" || one.name == "b.weight";
        });
        if (a) tensors.push_back({"a.weight", array(*a)});
        if (b) tensors.push_back({"b.weight", array(*b)});
        const auto file = folder_.path() / "weights.safetensors";
        write_safetensors(file, tensors);
        Model model = build(two_layers({{"a.weight", "b.weight"}}));
        load_initial_weights(model, file, {});
        return model.parameters.all().front().value.as<float>()[0];
    };
    EXPECT_EQ(load(5, {}), 5);
    EXPECT_EQ(load({}, 6), 6);
    EXPECT_EQ(load(7, 7), 7);
    EXPECT_THROW(load(7, 8), TrainError);
}

TEST(DeclaredModel, what_does_not_fit_is_the_users_to_mend) {
    JobSpec spec = example("images");
    try {
        build(spec);
        ADD_FAILURE() << "a table is no image";
    } catch (const TrainError& error) {
        EXPECT_EQ(error.reason(), "spec_error");
        EXPECT_NE(std::string(error.what())
                      .find("model.layers[0].layers[0] (conv2d \"conv\") needs an image"),
                  std::string::npos)
            << error.what();
    }
    spec.model.layers = {{.type = LayerType::relu}};
    EXPECT_THROW(build_model(spec, {2}, 2, Init(1)), TrainError) << "nothing to train";
}

}    // namespace
}    // namespace slipway

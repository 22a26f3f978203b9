// Goal: a network begins with the weights of a file, and what does not fit is named.
// Method: files of a small network's own tensors, changed one by one.
#include "executor/train/initial_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <functional>

#include "executor/nn/batch_normalization.h"
#include "executor/nn/linear.h"
#include "executor/train/train_error.h"
#include "executor/train/train_state.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

Model model_of(std::uint64_t seed, std::int64_t classes = 3) {
    Model model;
    Init init(seed);
    BatchNormalization::create(model.parameters, "norm", 4);
    Linear::create(model.parameters, init, "fc", 4, classes);
    model.head = "fc";
    return model;
}

std::vector<NamedArray> tensors_of(const Model& model) {
    std::vector<NamedArray> tensors;
    for (const auto* list : {&model.parameters.all(), &model.parameters.statistics()})
        for (const Parameter& parameter : *list)
            tensors.push_back({parameter.name, parameter.value});
    const std::array<std::int64_t, 1> count{12};
    tensors.push_back({"norm.num_batches_tracked", array_of<std::int64_t>({}, count)});
    return tensors;
}

class InitialWeights : public testing::Test {
protected:
    /// The error's text; empty when all went well.
    std::string refused(const std::function<void(std::vector<NamedArray>&)>& change,
                        LoadOptions options = {}) {
        std::vector<NamedArray> tensors = tensors_of(model_of(1));
        change(tensors);
        write_safetensors(file_, tensors);
        try {
            loaded_ = load_initial_weights(model_, file_, options);
        } catch (const TrainError& error) {
            EXPECT_EQ(error.reason(), "spec_error");
            return error.what();
        }
        return {};
    }
    float first_of(const std::string& name) const {
        for (const Parameter& parameter : model_.parameters.all())
            if (parameter.name == name) return parameter.value.as<float>()[0];
        ADD_FAILURE() << name;
        return 0;
    }

    TempFolder folder_;
    std::filesystem::path file_ = folder_.path() / "weights.safetensors";
    Model model_ = model_of(2);
    LoadedWeights loaded_;
};

void leave(std::vector<NamedArray>&) {}

std::vector<float> rows_of(const Model& model, const std::string& name) {
    for (const Parameter& parameter : model.parameters.all())
        if (parameter.name == name)
            return {parameter.value.as<float>().begin(), parameter.value.as<float>().end()};
    return {};
}

void drop_last_weight(std::vector<NamedArray>& tensors) {
    std::erase_if(tensors, [](const NamedArray& one) { return one.name == "fc.weight"; });
}

TEST_F(InitialWeights, in_bf16_are_widened) {
    EXPECT_EQ(refused([](std::vector<NamedArray>& tensors) {
                  for (NamedArray& one : tensors) {
                      if (one.name != "fc.weight") continue;
                      Array narrow({DType::bf16, one.array.shape().dims});
                      std::ranges::fill(narrow.as<BFloat16>(), BFloat16(0.333984375F));
                      one.array = narrow;
                  }
              }),
              "");
    EXPECT_EQ(first_of("fc.weight"), 0.333984375F);
}

TEST_F(InitialWeights, in_f64_are_narrowed) {
    const auto in_f64 = [](double first) {
        return [first](std::vector<NamedArray>& tensors) {
            for (NamedArray& one : tensors) {
                if (one.name != "fc.weight") continue;
                Array wide({DType::f64, one.array.shape().dims});
                std::ranges::fill(wide.as<double>(), first);
                one.array = wide;
            }
        };
    };
    EXPECT_EQ(refused(in_f64(1.0 / 3)), "");
    EXPECT_EQ(first_of("fc.weight"), 1.0F / 3);
    for (const double value : {1e300, std::nan("")}) {
        std::vector<NamedArray> tensors = tensors_of(model_of(1));
        in_f64(value)(tensors);
        write_safetensors(file_, tensors);
        try {
            load_initial_weights(model_, file_, {});
            ADD_FAILURE() << "it was loaded";
        } catch (const TrainError& error) {
            EXPECT_EQ(error.reason(), "data_error");
            EXPECT_NE(std::string(error.what()).find("tensor fc.weight has the value"),
                      std::string::npos)
                << error.what();
        }
    }
}

void add_shorts(const std::filesystem::path& file, const std::string& name) {
    std::string header = R"({")" + name + R"(":{"dtype":"I16","shape":[2],"data_offsets":[0,4]}})";
    const std::uint64_t length = header.size();
    std::ofstream out(file, std::ios::binary);
    out.write(reinterpret_cast<const char*>(&length), 8);
    out << header << std::string(4, '\0');
}

TEST_F(InitialWeights, a_type_that_is_not_read_is_named_with_those_that_are) {
    add_shorts(file_, "fc.weight");
    try {
        load_initial_weights(model_, file_, {});
        ADD_FAILURE() << "it was loaded";
    } catch (const TrainError& error) {
        const std::string text = error.what();
        EXPECT_TRUE(text.starts_with("weights.safetensors does not fit this network: it lacks "))
            << text;
        EXPECT_NE(text.find("it has also fc.weight I16[2]"), std::string::npos) << text;
        EXPECT_NE(text.find("F32, F64, F16 or BF16"), std::string::npos) << text;
    }
}

TEST_F(InitialWeights, rows_of_the_head_go_by_the_names_of_what_they_answer) {
    const std::vector<float> own = rows_of(model_, "fc.weight");
    const std::vector<float> theirs = rows_of(model_of(1), "fc.weight");
    const HeadNames names{
        .in_file = {"ant", "bee", "cat"}, .here = {"cat", "dog", "ant"}, .outputs = 3};
    EXPECT_EQ(refused(leave, {.names = names}), "");
    EXPECT_EQ(loaded_.unknown, std::vector<std::string>{"dog"});
    const std::vector<float> rows = rows_of(model_, "fc.weight");
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(rows[i], theirs[8 + i]) << "cat";
        EXPECT_EQ(rows[4 + i], own[4 + i]) << "dog: as it was drawn";
        EXPECT_EQ(rows[8 + i], theirs[i]) << "ant";
    }
    EXPECT_NE(describe(loaded_, file_).find("ordered by name"), std::string::npos);
    for (const bool replaced : {false, true}) {
        const HeadNames same{.in_file = names.here, .here = names.here, .outputs = 3};
        EXPECT_EQ(refused(leave, {.replace_head = replaced, .names = replaced ? names : same}), "");
        EXPECT_FALSE(loaded_.head_ordered);
    }
}

TEST_F(InitialWeights, of_the_same_network_are_all_taken) {
    EXPECT_NE(first_of("fc.weight"), model_of(1).parameters.all()[2].value.as<float>()[0]);
    EXPECT_EQ(refused(leave), "");
    EXPECT_EQ(loaded_.loaded.size(), 7U);
    EXPECT_EQ(first_of("fc.weight"), model_of(1).parameters.all()[2].value.as<float>()[0]);
    EXPECT_EQ(initial_state(model_, find_optimizer("sgd")).batch_counts,
              std::vector<std::int64_t>{12});
    EXPECT_EQ(describe(loaded_, file_), "7 tensors loaded from weights.safetensors");
}

TEST_F(InitialWeights, what_is_missing_left_over_or_of_another_shape_is_named) {
    EXPECT_NE(refused(drop_last_weight).find("it lacks fc.weight f32[3,4]"), std::string::npos);
    const std::string more = refused([](std::vector<NamedArray>& tensors) {
        tensors.push_back({"fc2.weight", Array({DType::f32, {2}})});
    });
    EXPECT_NE(more.find("it has also fc2.weight f32[2]"), std::string::npos) << more;
    const std::string reshaped = refused([](std::vector<NamedArray>& tensors) {
        for (NamedArray& one : tensors)
            if (one.name == "fc.weight") one.array = Array({DType::f32, {5, 4}});
    });
    EXPECT_NE(reshaped.find("f32[3,4]"), std::string::npos) << reshaped;
    EXPECT_NE(reshaped.find("f32[5,4]"), std::string::npos) << reshaped;
    EXPECT_NE(reshaped.find("model.head.replace"), std::string::npos) << reshaped;
}

TEST_F(InitialWeights, counts_may_be_missing) {
    EXPECT_EQ(refused([](std::vector<NamedArray>& tensors) { tensors.pop_back(); }), "");
    EXPECT_EQ(loaded_.loaded.size(), 6U);
}

TEST_F(InitialWeights, without_strictness_what_fits_is_taken) {
    const float own = first_of("fc.weight");
    EXPECT_EQ(refused(drop_last_weight, {.strict = false}), "");
    EXPECT_EQ(first_of("fc.weight"), own);
    EXPECT_EQ(loaded_.missing.size(), 1U);
    const std::string nothing = refused(
        [](std::vector<NamedArray>& tensors) {
            tensors = {{"other.weight", Array({DType::f32, {2}})}};
        },
        {.strict = false});
    EXPECT_NE(nothing.find("other.weight"), std::string::npos) << nothing;
}

/// The network with its first layer's weight tied to another name, and a mask in its files.
void tie(Model& model) {
    model.parameters.add_alias("lm_head.weight", "fc.weight");
    model.parameters.add_unused("attn.bias");
}

TEST_F(InitialWeights, a_tied_tensor_is_read_under_either_name_or_both) {
    tie(model_);
    const float theirs = model_of(1).parameters.all()[2].value.as<float>()[0];
    const auto twice = [](std::vector<NamedArray>& tensors) {
        tensors.push_back({"lm_head.weight", tensors[2].array.clone()});
        tensors.push_back({"attn.bias", Array({DType::u8, {1, 1, 4, 4}})});
    };
    EXPECT_EQ(refused(twice), "");
    EXPECT_EQ(first_of("fc.weight"), theirs);
    EXPECT_TRUE(loaded_.skipped.empty());

    model_ = model_of(2);
    tie(model_);
    const auto renamed = [](std::vector<NamedArray>& tensors) {
        tensors[2].name = "lm_head.weight";
    };
    EXPECT_EQ(refused(renamed), "");
    EXPECT_EQ(first_of("fc.weight"), theirs);
}

TEST_F(InitialWeights, copies_of_a_tied_tensor_that_differ_are_named) {
    tie(model_);
    const std::string says = refused([](std::vector<NamedArray>& tensors) {
        tensors.push_back({"lm_head.weight", tensors[2].array.clone()});
        tensors.back().array.as<float>()[0] += 1;
    });
    EXPECT_NE(says.find("it has also lm_head.weight f32[3,4]"), std::string::npos) << says;
}

TEST_F(InitialWeights, a_head_that_is_replaced_keeps_its_own) {
    model_ = model_of(2, 5);
    const float own = first_of("fc.weight");
    EXPECT_EQ(refused(leave, {.replace_head = true}), "");
    EXPECT_EQ(first_of("fc.weight"), own);
    EXPECT_EQ(loaded_.replaced, (std::vector<std::string>{"fc.weight", "fc.bias"}));
    EXPECT_EQ(describe(loaded_, file_),
              "5 tensors loaded from weights.safetensors; head replaced: fc.weight, fc.bias");
}

TEST_F(InitialWeights, files_of_the_bare_network_and_with_older_words_are_read) {
    model_ = Model();
    Init init(2);
    Linear::create(model_.parameters, init, "bert.dense", 4, 3);
    BatchNormalization::create(model_.parameters, "bert.norm", 3);
    BatchNormalization::create(model_.parameters, "cls.norm", 3);
    model_.parameters.add_unused("bert.mask");
    model_.head = "cls";
    const auto as_published = [&](std::vector<NamedArray>& tensors) {
        tensors.clear();
        for (const auto* list : {&model_.parameters.all(), &model_.parameters.statistics()})
            for (const Parameter& parameter : *list)
                tensors.push_back({parameter.name, filled(parameter.input.dims(), 7)});
        tensors.push_back({"bert.mask", Array({DType::u8, {4, 4}})});
        for (NamedArray& one : tensors) {
            if (one.name.starts_with("bert.")) one.name.erase(0, 5);
            if (one.name.ends_with("norm.weight"))
                one.name.replace(one.name.size() - 6, 6, "gamma");
            if (one.name.ends_with("norm.bias")) one.name.replace(one.name.size() - 4, 4, "beta");
        }
    };
    EXPECT_NE(refused(as_published).find("it has also dense.weight f32[3,4]"), std::string::npos);
    model_.base = "bert";
    EXPECT_EQ(refused(as_published), "");
    EXPECT_EQ(loaded_.loaded.size(), 10U);
    for (const char* name : {"bert.dense.weight", "bert.norm.weight", "cls.norm.bias"})
        EXPECT_EQ(first_of(name), 7.0F) << name;
}

TEST_F(InitialWeights, a_file_that_is_none_is_an_error_of_the_data) {
    folder_.write("weights.safetensors", "no such thing");
    for (const auto& path : {file_, folder_.path(), folder_.path() / "absent"}) {
        try {
            load_initial_weights(model_, path, {});
            ADD_FAILURE() << path;
        } catch (const TrainError& error) {
            EXPECT_EQ(error.reason(), "data_error") << error.what();
        }
    }
}

}    // namespace
}    // namespace slipway

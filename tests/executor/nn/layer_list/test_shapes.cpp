// Goal: layers that do not fit are refused with the layer, what it needs, what comes in and from
// where.
// Method: one list of layers for each way to be wrong.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/spec/tables.h"
#include "executor/nn/layer_list/network.h"

namespace slipway {
namespace {

std::vector<LayerSpec> layers_of(const std::string& text) {
    const auto json = nlohmann::json::parse(text);
    std::vector<Problem> problems;
    std::vector<LayerSpec> layers(json.size());
    const Reader at(problems, layer_table());
    for (std::size_t i = 0; i < json.size(); ++i)
        layer_table().read(json[i], layers[i], at.at(i));
    EXPECT_TRUE(problems.empty()) << text;
    return layers;
}

const std::vector<std::string> column_names{"a", "b", "c"};

/// The complaint; empty when the network is built. A table's columns have names where they are
/// three.
std::string refused(const std::string& layers, const Dims& sample_dims,
                    std::int64_t batch_size = 4) {
    ParameterList parameters;
    Init init = Init::zeros();
    try {
        LayerListModel::create(
            parameters, init, layers_of(layers),
            {.sample_dims = sample_dims,
             .outputs = 10,
             .batch_size = batch_size,
             .column_names = sample_dims == Dims{3} ? column_names : std::vector<std::string>{}});
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
        return error.what();
    }
    return {};
}

struct Refused {
    std::string layers;
    Dims sample_dims;
    std::string says;
};

TEST(Shapes, what_does_not_fit_names_the_layer) {
    const std::vector<Refused> cases{
        {R"([{"type":"embedding","num_embeddings":4,"embedding_dim":2}])",
         {3, 8, 8},
         "model.layers[0] (embedding) needs whole numbers: columns of a table, as the dataset or "
         "a "
         "columns layer has them, got [3, 8, 8] from the dataset"},
        {R"([{"type":"tanh"},{"type":"embedding","num_embeddings":4,"embedding_dim":2}])",
         {3},
         "model.layers[1] (embedding) needs whole numbers: columns of a table, as the dataset or "
         "a "
         "columns layer has them, got [3] from model.layers[0] (tanh)"},
        {R"([{"type":"sinusoidal_position"}])",
         {3},
         "model.layers[0] (sinusoidal_position) needs a sequence [positions, features], as an "
         "embedding gives, got [3] from the dataset"},
        {R"([{"type":"columns","columns":["a"]}])",
         {4},
         "model.layers[0] (columns) needs the columns of a csv dataset, or of another columns "
         "layer, got [4] from the dataset"},
        {R"([{"type":"columns","columns":["c","b"]},{"type":"columns","columns":["b","a"]}])",
         {3},
         "model.layers[1] (columns) needs a column \"a\" in the table that it reads, which has "
         "c, b, got [2] from model.layers[0] (columns)"},
        {R"([{"type":"embedding","num_embeddings":16777216,"embedding_dim":1000}])",
         {3},
         "model.layers[0] (embedding) needs a weight [16777216, 1000] of 1.68e+10 numbers"},
        {R"([{"type":"flatten"},{"type":"conv2d","name":"down","out_channels":4,"kernel_size":3}])",
         {3, 8, 8},
         "model.layers[1] (conv2d \"down\") needs an image [channels, height, width], got [192] "
         "from model.layers[0] (flatten)"},
        {R"([{"type":"conv2d","out_channels":4,"kernel_size":9,"padding":1}])",
         {3, 28, 6},
         "model.layers[0] (conv2d) needs an image of at least 7 x 7 pixels (kernel_size 9, padding "
         "1), got [3, 28, 6] from the dataset"},
        {R"([{"type":"conv2d","out_channels":4,"kernel_size":1,"groups":2}])",
         {3, 8, 8},
         "needs a number of channels that its 2 groups divide, got [3, 8, 8]"},
        {R"([{"type":"max_pool","kernel_size":5,"padding":2}])",
         {3, 8, 0},
         "needs an image of at least 1 x 1 pixels"},
        {R"([{"type":"residual","layers":[{"type":"relu"},{"type":"linear","out_features":7}]}])",
         {5},
         "model.layers[0] (residual) needs layers and shortcut of one shape, and they are [7] and "
         "[5] (give it a shortcut"},
        {R"([{"type":"residual","layers":[{"type":"relu"}],
              "shortcut":[{"type":"relu"},{"type":"avg_pool","name":"p","kernel_size":2}]}])",
         {5},
         "model.layers[0].shortcut[1] (avg_pool \"p\") needs an image [channels, height, width], "
         "got [5] from model.layers[0].shortcut[0] (relu)"},
        {R"([{"type":"linear","name":"a","out_features":3},{"type":"linear","name":"b",
              "inputs":["input"],"out_features":4},{"type":"add","inputs":["a","b"]}])",
         {5},
         "model.layers[2] (add) needs inputs of one shape, got [3] from model.layers[0] (linear "
         "\"a\") and [4] from model.layers[1] (linear \"b\")"},
        {R"([{"type":"conv2d","name":"c","out_channels":3,"kernel_size":2},
             {"type":"concat","inputs":["c","input"]}])",
         {3, 4, 4},
         "model.layers[1] (concat) needs inputs that differ in their first extent alone"},
        {R"([{"type":"sequence","layers":[{"type":"global_avg_pool"}]}])",
         {10, 4, 4},
         "the network needs a result of [10] for each sample, got [10, 1, 1] from model.layers[0] "
         "(sequence); let it end with flatten and a linear layer"},
        {R"([{"type":"linear","out_features":1048576},{"type":"linear","out_features":1048576}])",
         {1},
         "model.layers[1] (linear) needs a weight [1048576, 1048576] of 1.1e+12 numbers"},
    };
    for (const Refused& one : cases) {
        const std::string complaint = refused(one.layers, one.sample_dims);
        EXPECT_NE(complaint.find(one.says), complaint.npos) << complaint << "\n" << one.says;
    }
}

TEST(Shapes, batch_norm_needs_two_values_for_each_channel) {
    const std::string layers = R"([{"type":"batch_norm"},{"type":"flatten"},{"type":"linear"}])";
    EXPECT_NE(refused(layers, {5}, 1).find("train.batch_size_per_core"), std::string::npos);
    EXPECT_EQ(refused(layers, {5}, 2), "");
    EXPECT_EQ(refused(layers, {5, 1, 2}, 1), "");
}

TEST(Shapes, joining_again_and_again_ends_before_numbers_overflow) {
    std::string layers;
    for (int i = 0; i < 40; ++i) {
        const std::string before = i == 0 ? "input" : std::to_string(i - 1);
        layers += fmt::format(R"({}{{"type":"concat","inputs":["{}","{}"]}})", i == 0 ? "[" : ",",
                              before, before);
    }
    EXPECT_NE(refused(layers + "]", {8}).find("a result of at most"), std::string::npos);
}

}    // namespace
}    // namespace slipway

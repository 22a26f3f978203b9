#include <gtest/gtest.h>

#include "api/base/error.h"

#include "executor/nn/models/lenet.h"
#include "executor/nn/models/mlp.h"

namespace slipway {
namespace {

TEST(Mlp, has_a_layer_for_each_width_and_one_for_the_classes) {
    ParameterList parameters;
    Init init(0);
    const Mlp model = Mlp::create(parameters, init, 784, {256, 64}, 10);
    EXPECT_EQ(parameters.element_count(), 784 * 256 + 256 + 256 * 64 + 64 + 64 * 10 + 10);
    EXPECT_EQ(parameters.all()[2].name, "layers.1.weight");
    const Tensor x = input({DType::f32, {3, 1, 28, 28}}, Placement::per_core, "x");
    EXPECT_EQ(model(x).dims(), (Dims{3, 10}));
    EXPECT_EQ(model(x).node().placement, Placement::per_core);
}

TEST(LeNet, has_the_parameters_of_lenet_5) {
    ParameterList parameters;
    Init init(0);
    const auto model =
        LeNet::create(parameters, init,
                      {.channels = 1, .height = 28, .width = 28, .classes = 10, .multiplier = 1});
    EXPECT_EQ(parameters.element_count(), 61706);
    const Tensor x = input({DType::f32, {2, 1, 28, 28}}, Placement::per_core, "x");
    EXPECT_EQ(model(x).dims(), (Dims{2, 10}));
}

TEST(LeNet, an_image_too_small_is_refused_with_the_way_out) {
    ParameterList parameters;
    Init init(0);
    try {
        LeNet::create(parameters, init, {.channels = 1, .height = 8, .width = 8, .classes = 10});
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
        EXPECT_NE(std::string(error.what()).find("data.image_size"), std::string::npos);
    }
}

TEST(ParameterList, keeps_the_order_of_making) {
    ParameterList parameters;
    parameters.add("b", Array({DType::f32, {1}}));
    parameters.add("a", Array({DType::f32, {2}}));
    EXPECT_EQ(parameters.all()[0].name, "b");
    EXPECT_EQ(parameters.inputs().size(), 2U);
}

}    // namespace
}    // namespace slipway

#include "executor/graph/node_map.h"

#include <gtest/gtest.h>

#include "executor/graph/ops.h"

namespace slipway {
namespace {

TEST(NodeMap, keeps_the_first_value_of_a_node) {
    const Tensor x = constant(1), y = constant(2);
    NodeMap<int> map;
    EXPECT_TRUE(map.insert(x.get(), 7));
    EXPECT_FALSE(map.insert(x.get(), 8));
    EXPECT_EQ(map.at(x.get()), 7);
    EXPECT_FALSE(map.contains(y.get()));
    EXPECT_EQ(map.find(y.get()), nullptr);
    EXPECT_EQ(map.size(), 1U);
}

TEST(NodeMap, finds_every_node_however_many_there_are) {
    std::vector<Tensor> nodes;
    for (int i = 0; i < 5000; ++i)
        nodes.push_back(constant(i));
    NodeMap<std::size_t> map;
    for (std::size_t i = 0; i < nodes.size(); i += 2)
        map.insert(nodes[i].get(), i);
    EXPECT_EQ(map.size(), nodes.size() / 2);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        ASSERT_EQ(map.contains(nodes[i].get()), i % 2 == 0) << i;
        ASSERT_EQ(map.find(nodes[i].get()) != nullptr ? map.at(nodes[i].get()) : 0,
                  i % 2 == 0 ? i : 0);
    }
}

}    // namespace
}    // namespace slipway

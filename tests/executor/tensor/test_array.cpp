#include "executor/tensor/array.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipway {
namespace {

using testing::Each;
using testing::ElementsAre;

TEST(Array, begins_with_zeros) {
    const Array array(Shape{DType::f64, {3, 5}});
    EXPECT_EQ(array.byte_count(), 120);
    EXPECT_THAT(array.as<double>(), Each(0.0));
}

TEST(Array, memory_is_aligned_to_a_cache_line) {
    for (const std::int64_t count : {0, 1, 3, 17, 1000}) {
        const Array array(Shape{DType::u8, {count}});
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.bytes()) % 64, 0u) << count;
    }
}

TEST(Array, default_one_is_empty) {
    EXPECT_TRUE(Array().empty());
    EXPECT_TRUE(Array().clone().empty());
    EXPECT_FALSE(Array(Shape{DType::f32, {0}}).empty());
}

TEST(Array, copy_shares_bytes_and_clone_does_not) {
    Array array = array_of<std::int32_t>({2}, {{1, 2}});
    const Array shared = array;
    const Array own = array.clone();
    array.as<std::int32_t>()[0] = 9;
    EXPECT_THAT(shared.as<std::int32_t>(), ElementsAre(9, 2));
    EXPECT_THAT(own.as<std::int32_t>(), ElementsAre(1, 2));
}

TEST(Array, reshaped_is_a_view_of_the_same_bytes) {
    Array array = array_of<float>({2, 2}, {{1, 2, 3, 4}});
    const Array view = array.reshaped({4});
    EXPECT_EQ(view.shape().dims, (Dims{4}));
    array.as<float>()[3] = 7;
    EXPECT_EQ(view.as<float>()[3], 7);
}

TEST(Array, scalar_has_one_element) {
    const Array array(Shape{DType::i64, {}});
    EXPECT_EQ(array.as<std::int64_t>().size(), 1u);
}

TEST(ArrayDeathTest, wrong_element_type_stops_the_process) {
    Array array(Shape{DType::f32, {2}});
    EXPECT_DEATH(array.as<double>(), "its own element type");
}

TEST(ArrayDeathTest, reshape_to_another_count_stops_the_process) {
    const Array array(Shape{DType::f32, {2}});
    EXPECT_DEATH(array.reshaped({3}), "keeps the element count");
}

TEST(ArrayDeathTest, values_that_do_not_fill_it_stop_the_process) {
    EXPECT_DEATH(array_of<float>({3}, {{1, 2}}), "values fill the array");
}

}    // namespace
}    // namespace slipway

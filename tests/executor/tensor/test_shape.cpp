#include "executor/tensor/shape.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

TEST(Shape, counts_elements_and_bytes) {
    EXPECT_EQ((Shape{DType::f32, {8, 3}}.element_count()), 24);
    EXPECT_EQ((Shape{DType::f32, {8, 3}}.byte_count()), 96);
    EXPECT_EQ((Shape{DType::i64, {}}.element_count()), 1);
    EXPECT_EQ((Shape{DType::i64, {}}.byte_count()), 8);
    EXPECT_EQ((Shape{DType::pred, {4, 0, 2}}.element_count()), 0);
}

TEST(Shape, prints_type_and_extents) {
    EXPECT_EQ(to_string(Shape{DType::f32, {8, 3}}), "f32[8,3]");
    EXPECT_EQ(to_string(Shape{DType::pred, {}}), "pred[]");
}

TEST(Shape, is_equal_in_type_and_extents_only) {
    EXPECT_EQ((Shape{DType::f32, {2}}), (Shape{DType::f32, {2}}));
    EXPECT_NE((Shape{DType::f32, {2}}), (Shape{DType::f64, {2}}));
    EXPECT_NE((Shape{DType::f32, {2}}), (Shape{DType::f32, {2, 1}}));
}

TEST(Shape, strides_are_row_major) {
    EXPECT_EQ(strides_of({2, 3, 4}), (Dims{12, 4, 1}));
    EXPECT_EQ(strides_of({}), Dims{});
}

TEST(DType, floating_types_and_numbers) {
    EXPECT_TRUE(is_floating(DType::f32));
    EXPECT_FALSE(is_floating(DType::i32));
    EXPECT_TRUE(is_number(DType::u8));
    EXPECT_FALSE(is_number(DType::pred));
}

}    // namespace
}    // namespace slipway

#include "api/client/terminal_plot.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace slipway::client {
namespace {

PlotCurve curve_of(const std::vector<double>& values) {
    PlotCurve curve("loss");
    for (std::size_t i = 0; i < values.size(); ++i)
        curve.add(static_cast<double>(i), values[i]);
    return curve;
}

TEST(TerminalPlot, a_falling_line_goes_from_the_upper_left_to_the_lower_right) {
    const std::vector<PlotCurve> curves{curve_of({3, 2, 1, 0})};
    const auto lines = plot_lines(curves, 20, 2, false);
    ASSERT_EQ(lines.size(), 4U);
    EXPECT_EQ(lines[0], "          loss 0  ");
    EXPECT_EQ(lines[1], "        3 ⠉⠒⠢⢄⣀     ");
    EXPECT_TRUE(lines[2].starts_with("        0      ")) << lines[2];
    EXPECT_FALSE(lines[2].ends_with(" ")) << lines[2];
    EXPECT_EQ(lines[3], "          step 0   3");
}

TEST(TerminalPlot, one_value_is_drawn_in_the_middle) {
    const std::vector<PlotCurve> curves{curve_of({5, 5, 5})};
    const auto lines = plot_lines(curves, 20, 3, false);
    EXPECT_EQ(lines[1], "        5           ");
    EXPECT_NE(lines[2], "                    ");
}

TEST(TerminalPlot, there_is_no_picture_without_points_or_room) {
    const std::vector<PlotCurve> one{curve_of({1})};
    const std::vector<PlotCurve> two{curve_of({1, 2})};
    EXPECT_TRUE(plot_lines(one, 80, 8, false).empty());
    EXPECT_TRUE(plot_lines(two, 19, 8, false).empty());
    EXPECT_TRUE(plot_lines(two, 80, 0, false).empty());
    EXPECT_FALSE(plot_lines(two, 20, 1, true).empty());
}

TEST(TerminalPlot, what_is_not_finite_is_left_out_and_steps_that_come_again_are_replaced) {
    PlotCurve curve = curve_of({1, std::nan(""), std::numeric_limits<double>::infinity(), 4, 5});
    EXPECT_EQ(curve.points().size(), 3U);
    curve.add(3, 7);
    ASSERT_EQ(curve.points().size(), 2U);
    EXPECT_EQ(curve.points().back(), std::pair(3.0, 7.0));
}

TEST(TerminalPlot, a_long_curve_is_thinned_and_keeps_its_ends) {
    PlotCurve curve("loss");
    for (int step = 0; step < 100'000; ++step)
        curve.add(step, step);
    EXPECT_LT(curve.points().size(), 4096U);
    EXPECT_EQ(curve.points().front().first, 0);
    EXPECT_EQ(curve.points().back().first, 99'999);
}

}    // namespace
}    // namespace slipway::client

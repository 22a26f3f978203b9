#include "executor/train/tasks/metric_labels.h"

#include <gtest/gtest.h>

namespace slipway {

TEST(MetricLabels, two_labels_never_have_one_name) {
    using Names = std::vector<std::string>;
    EXPECT_EQ(metric_labels({"no finding", "no_finding", "no/finding", "no_finding_2"}),
              (Names{"no_finding_3", "no_finding", "no_finding_4", "no_finding_2"}));
    EXPECT_EQ(metric_labels({"Größe", "Grüße", "肺炎", "气胸"}),
              (Names{"Größe", "Grüße", "肺炎", "气胸"}));
    EXPECT_EQ(metric_labels({"far, away", "a.b-1", "sick"}), (Names{"far__away", "a.b-1", "sick"}));
}

TEST(MetricLabels, long_labels_are_cut_between_characters_and_stay_different) {
    std::string one = "x", other = "x";    // the limit is inside a character
    for (int i = 0; i < 100; ++i) {
        one += "ш";
        other += "ш";
    }
    other += "a";
    const auto names = metric_labels({one, other, "non\u00A0breaking"});
    EXPECT_EQ(names[0].size(), metric_label_bytes_max - 1);
    EXPECT_EQ(names[0], one.substr(0, names[0].size()));
    EXPECT_EQ(names[1], one.substr(0, names[1].size() - 2) + "_2");
    EXPECT_LE(names[1].size(), metric_label_bytes_max);
    EXPECT_EQ(names[2], "non_breaking");
}

}    // namespace slipway

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

}    // namespace slipway

#include "api/client/ensemble_csv.h"

#include <gtest/gtest.h>

#include <sstream>

#include "api/base/error.h"

namespace slipway::client {
namespace {

std::string averaged(const std::vector<std::string>& texts) {
    std::vector<std::unique_ptr<std::istream>> models;
    for (const std::string& text : texts)
        models.push_back(std::make_unique<std::istringstream>(text));
    std::ostringstream out;
    average_predictions(models, out);
    return out.str();
}

TEST(EnsembleCsv, the_class_is_that_of_the_largest_mean_probability) {
    const std::string head = "sample,label,predicted,predicted_index,p_no,\"p_a,b\"\n";
    EXPECT_EQ(averaged({head + "0,no,no,0,0.75,0.25\n1,no,no,0,0.625,0.375\n",
                        head + "0,no,no,0,0.5,0.5\n1,no,\"a,b\",1,0.125,0.875\n"}),
              head + "0,no,no,0,0.625,0.375\n1,no,\"a,b\",1,0.375,0.625\n");
}

TEST(EnsembleCsv, numbers_are_averaged_and_missing_ones_are_missing) {
    EXPECT_EQ(averaged({"sample,label_y,predicted_y\n0,1,2\n1,1,\n",
                        "sample,label_y,predicted_y\n0,1,4\n1,1,3\n"}),
              "sample,label_y,predicted_y\n0,1,3\n1,1,\n");
    EXPECT_EQ(averaged({"sample,p_a,p_b\n0,1,0\n", "sample,p_a,p_b\n0,0,0\n"}),
              "sample,p_a,p_b\n0,0.5,0\n");
}

TEST(EnsembleCsv, refuses_what_is_not_of_the_same_samples) {
    const std::vector<std::vector<std::string>> cases{
        {},
        {""},
        {"sample,label\n0,a\n"},
        {"sample,p_a\n0,1\n", "sample,p_b\n0,1\n"},
        {"sample,p_a\n0,1\n", "sample,p_a\n1,1\n"},
        {"sample,p_a\n0,1\n", "sample,p_a\n0,1\n1,1\n"},
        {"sample,p_a\n0,one\n"},
        {"sample,p_a\n0,1,2\n"},
        {"sample,p_a\n0,1"}};
    for (const auto& texts : cases)
        EXPECT_THROW(averaged(texts), Error) << (texts.empty() ? "" : texts[0]);
}

}    // namespace
}    // namespace slipway::client

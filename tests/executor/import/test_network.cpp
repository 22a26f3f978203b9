// Goal: a checkpoint's copy of a network is the network.
#include "executor/import/network.h"

#include <gtest/gtest.h>

#include <limits>

#include "api/base/error.h"
#include "executor/import/exported_program.h"
#include "tests/executor/import/programs.h"

namespace slipway::importer {
namespace {

TEST(Network, is_the_same_after_it_was_stored) {
    for (const char* name : {"convolutional", "dropping", "baked"}) {
        const Network network = read_exported_program(program_path(name)).network;
        EXPECT_EQ(decode_network(encode_network(network)), network) << name;
    }
}

TEST(Network, keeps_numbers_that_json_has_no_word_for) {
    Network network{.source = "a test", .inputs = {}, .nodes = {}, .outputs = {}};
    network.nodes.push_back({.op = "aten.x",
                             .name = "x",
                             .module = "",
                             .arguments = {{"a", {std::numeric_limits<double>::infinity()}},
                                           {"b", {-0.0}},
                                           {"c", {std::int64_t{2}}},
                                           {"d", {2.0}},
                                           {"e", {true}},
                                           {"f", {std::string("text")}},
                                           {"g", {std::vector<Argument>{{}, {ValueName{"y"}}}}}},
                             .results = {"x", ""}});
    EXPECT_EQ(decode_network(encode_network(network)), network);
}

TEST(Network, that_is_damaged_is_refused) {
    for (const char* text :
         {"", "[]", "{}", R"({"source":"x","inputs":[{}],"nodes":[],"outputs":[]})",
          R"({"source":"x","inputs":[],"nodes":[{"op":1}],"outputs":[]})"})
        EXPECT_THROW(decode_network(text), Error) << text;
}

}    // namespace
}    // namespace slipway::importer

// Goal: a file of torch.export gives its network and values; a file that is damaged, lies or comes
// from an adversary is refused with the place and the reason.
// Method: a real file, changed in one place at a time.
#include "executor/import/exported_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>

#include "api/base/error.h"
#include "tests/executor/import/programs.h"
#include "tests/support/temp_folder.h"

namespace slipway::importer {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

constexpr const char* program_member = "archive/models/model.json";
constexpr const char* weights_member = "archive/data/weights/model_weights_config.json";

const NetworkInput& input_named(const Network& network, const std::string& target) {
    return *std::ranges::find(network.inputs, target, &NetworkInput::target);
}

TEST(ExportedProgram, has_the_signature_of_the_module) {
    const ExportedProgram program = read_exported_program(program_path("convolutional"));
    EXPECT_THAT(program.network.source, HasSubstr("torch 2."));
    const NetworkInput& weight = input_named(program.network, "conv.weight");
    EXPECT_EQ(weight.kind, InputKind::parameter);
    EXPECT_EQ(weight.dims, (Dims{6, 3, 3, 3}));
    EXPECT_TRUE(weight.requires_grad);
    EXPECT_FALSE(input_named(program.network, "frozen.weight").requires_grad);
    EXPECT_EQ(input_named(program.network, "bn.running_mean").kind, InputKind::buffer);
    EXPECT_FALSE(input_named(program.network, "order").persistent);
    EXPECT_EQ(input_named(program.network, "decode.weight").shares, "encode.weight");
    EXPECT_EQ(input_named(program.network, "x").dims, (Dims{-1, 3, 5, 6}));
    EXPECT_EQ(program.network.outputs.size(), 1U);
}

TEST(ExportedProgram, has_the_values_and_the_modules_of_its_nodes) {
    const ExportedProgram program = read_exported_program(program_path("convolutional"));
    const auto order = std::ranges::find(program.values, "order", &NamedArray::name);
    ASSERT_NE(order, program.values.end());
    const auto numbers = order->array.as<std::int64_t>();
    EXPECT_THAT(std::vector(numbers.begin(), numbers.end()),
                testing::ElementsAre(1, 0, 3, 2, 5, 4));
    const auto norm =
        std::ranges::find(program.network.nodes, "aten.batch_norm.default", &NetworkNode::op);
    ASSERT_NE(norm, program.network.nodes.end());
    EXPECT_EQ(norm->module, "bn");
}

TEST(ExportedProgram, folds_constants_without_dims_into_the_network) {
    const ExportedProgram program = read_exported_program(program_path("convolutional"));
    const auto constant =
        std::ranges::find(program.network.inputs, InputKind::constant, &NetworkInput::kind);
    ASSERT_NE(constant, program.network.inputs.end());
    EXPECT_EQ(constant->number, 0.5);
}

/// What reading says of the file with one thing changed.
class Changed : public testing::Test {
protected:
    std::string message_of(const std::function<void(Members&)>& change,
                           const ReadLimits& limits = {}) {
        Members members = members_of(program_path("convolutional"));
        change(members);
        const auto path = folder_.path() / "changed.pt2";
        write_archive(path, members);
        return message(path, limits);
    }

    std::string message_of_json(const char* member, const std::function<void(Json&)>& change) {
        return message_of([&](Members& members) {
            Json json = Json::parse(members.at(member));
            change(json);
            members[member] = json.dump();
        });
    }

    static std::string message(const std::filesystem::path& path, const ReadLimits& limits = {}) {
        try {
            read_exported_program(path, limits);
        } catch (const Error& error) {
            EXPECT_NE(error.code(), ErrorCode::internal);
            return error.what();
        }
        return "read";
    }

    static Json& weight(Json& json, const char* name) {
        return json.at("config").at(name).at("tensor_meta");
    }

    TempFolder folder_;
};

TEST_F(Changed, is_read_as_it_is) {
    EXPECT_EQ(message_of([](Members&) {}), "read");
}

TEST_F(Changed, is_refused_without_its_program) {
    EXPECT_THAT(message_of([](Members& members) { members.erase(program_member); }),
                HasSubstr("no models/model.json"));
}

TEST_F(Changed, of_an_older_torch_says_so) {
    EXPECT_THAT(message_of([](Members& members) {
                    members.erase(program_member);
                    members["archive/serialized_exported_program.json"] = "{}";
                }),
                HasSubstr("older than 2.9"));
}

TEST_F(Changed, is_refused_when_it_is_no_zip_or_empty_or_absent) {
    const auto path = folder_.path() / "text.pt2";
    std::ofstream(path) << "not a zip file at all";
    EXPECT_THAT(message(path), HasSubstr("not a zip"));
    std::ofstream(path, std::ios::trunc) << "";
    EXPECT_THAT(message(path), HasSubstr("empty"));
    EXPECT_THAT(message(folder_.path() / "absent.pt2"), HasSubstr("no file"));
}

TEST_F(Changed, is_refused_wherever_it_ends_early) {
    std::ifstream whole(program_path("convolutional"), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(whole), {}};
    const auto path = folder_.path() / "short.pt2";
    for (std::size_t size = 1; size < bytes.size(); size += 997) {
        std::ofstream(path, std::ios::binary | std::ios::trunc)
            .write(bytes.data(), std::streamsize(size));
        EXPECT_NE(message(path), "read") << size;
    }
}

TEST_F(Changed, survives_any_changed_byte) {
    std::ifstream whole(program_path("convolutional"), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(whole), {}};
    const auto path = folder_.path() / "flipped.pt2";
    for (std::size_t at = 0; at < bytes.size(); at += 331) {
        std::string changed = bytes;
        changed[at] = char(changed[at] ^ 0x41);
        std::ofstream(path, std::ios::binary | std::ios::trunc) << changed;
        message(path);
    }
}

TEST_F(Changed, of_another_schema_is_refused) {
    EXPECT_THAT(
        message_of_json(program_member, [](Json& json) { json["schema_version"]["major"] = 9; }),
        HasSubstr("version 9"));
}

TEST_F(Changed, needs_a_value_for_each_tensor) {
    EXPECT_THAT(
        message_of_json(weights_member, [](Json& json) { json["config"].erase("fc.bias"); }),
        HasSubstr("no value for fc.bias"));
    EXPECT_THAT(
        message_of([](Members& members) { members.erase("archive/data/weights/weight_0"); }),
        HasSubstr("no bytes for"));
}

TEST_F(Changed, may_not_lie_about_sizes) {
    const auto with_sizes = [](std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides) {
        return [=](Members& members) {
            for (const char* member : {program_member, weights_member}) {
                Json json = Json::parse(members.at(member));
                Json& meta = member == weights_member
                                 ? weight(json, "fc.bias")
                                 : json["graph_module"]["graph"]["tensor_values"]["p_fc_bias"];
                meta["sizes"] = Json::array();
                meta["strides"] = Json::array();
                for (const std::int64_t size : sizes)
                    meta["sizes"].push_back({{"as_int", size}});
                for (const std::int64_t stride : strides)
                    meta["strides"].push_back({{"as_int", stride}});
                members[member] = json.dump();
            }
        };
    };
    EXPECT_THAT(message_of(with_sizes({5}, {1})), HasSubstr("shorter than"));
    EXPECT_THAT(message_of(with_sizes({4}, {2})), HasSubstr("shorter than"));
    EXPECT_THAT(message_of(with_sizes({-4}, {1})), HasSubstr("fc.bias"));
    EXPECT_THAT(message_of(with_sizes({1000000000}, {1})), HasSubstr("larger than"));
    EXPECT_THAT(message_of(with_sizes({1 << 30, 1 << 30, 1 << 30}, {1, 1, 1})),
                HasSubstr("fc.bias"));
    EXPECT_THAT(message_of(with_sizes({2, 2}, {std::int64_t{1} << 62, std::int64_t{1} << 62})),
                HasSubstr("fc.bias"));
    EXPECT_THAT(
        message_of(with_sizes(std::vector<std::int64_t>(40, 1), std::vector<std::int64_t>(40, 1))),
        HasSubstr("dimensions"));
}

TEST_F(Changed, may_not_begin_outside_of_its_bytes) {
    for (const std::int64_t offset : {std::int64_t{-1}, std::int64_t{1}, std::int64_t{1} << 60})
        EXPECT_NE(
            message_of_json(weights_member,
                            [&](Json& json) {
                                weight(json, "fc.bias")["storage_offset"] = {{"as_int", offset}};
                            }),
            "read")
            << offset;
}

TEST_F(Changed, is_not_unpickled) {
    EXPECT_THAT(message_of_json(weights_member,
                                [](Json& json) { json["config"]["fc.bias"]["use_pickle"] = true; }),
                HasSubstr("Python object"));
}

TEST_F(Changed, keeps_the_limits_of_the_reader) {
    EXPECT_THAT(message_of([](Members&) {}, {.program_bytes_max = 1000}),
                HasSubstr("larger than 1000"));
    EXPECT_THAT(message_of([](Members&) {}, {.values_bytes_max = 100}),
                HasSubstr("larger than 100"));
}

TEST_F(Changed, is_refused_with_types_that_are_not_read) {
    EXPECT_THAT(message_of_json(
                    program_member,
                    [](Json& json) {
                        json["graph_module"]["graph"]["tensor_values"]["p_fc_bias"]["dtype"] = 10;
                    }),
                HasSubstr("ScalarType"));
}

TEST_F(Changed, is_refused_with_any_part_of_the_program_of_another_kind) {
    const Json whole = Json::parse(members_of(program_path("convolutional")).at(program_member));
    const Json flat = whole.flatten();
    constexpr std::size_t step = 41;
    std::size_t number = 0, changed = 0, refused = 0;
    for (const auto& [pointer, value] : flat.items()) {
        if (number++ % step != 0) continue;
        ++changed;
        refused += message_of_json(program_member, [&](Json& json) {
                       json[Json::json_pointer(pointer)] = Json::array({Json::object()});
                   }) != "read";
    }
    // The rest is what nothing reads: traces, strides of values.
    EXPECT_GT(refused, changed / 4);
}

TEST_F(Changed, deep_nesting_is_refused) {
    EXPECT_THAT(message_of([](Members& members) {
                    members[program_member] = std::string(100000, '[') + std::string(100000, ']');
                }),
                HasSubstr("not JSON"));
}

}    // namespace
}    // namespace slipway::importer

#include "api/client/request_document.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/client/service.h"
#include "api/client/toml_json.h"
#include "tests/support/temp_folder.h"

namespace slipway::client {
namespace {

struct RequestDocument : testing::Test {
    TempFolder work;

    std::string rejection(const std::function<void()>& act) {
        try {
            act();
        } catch (const Stop& stop) {
            EXPECT_EQ(stop.code(), ExitCode::usage);
            return stop.what();
        }
        return "nothing was rejected";
    }
};

TEST_F(RequestDocument, a_file_that_is_not_changed_is_sent_as_it_is) {
    const std::string text = "{\"a\": 1,,}";
    EXPECT_EQ(request_document(work.write("a.json", text).string(), {}, {}), text);
}

TEST_F(RequestDocument, fields_are_set_and_removed) {
    const std::string file =
        work.write("a.json", R"({"train": {"epochs": 1, "seed": 2}, "list": [{"n": 1}]})").string();
    EXPECT_EQ(Json::parse(request_document(
                  file, {"train.epochs=5", "train.seed=null", "list.0.n=7", "name=a=b", "x.y=[1]"},
                  {{"team.x", "red"}})),
              Json::parse(R"({"train": {"epochs": 5}, "list": [{"n": 7}], "name": "a=b",
                              "x": {"y": [1]}, "labels": {"team.x": "red"}})"));
}

TEST_F(RequestDocument, what_cannot_be_set_says_why) {
    const std::string file =
        work.write("a.json", R"({"train": {"epochs": 1}, "labels": 3})").string();
    for (const char* change : {"train", "=1", "train.epochs.x=1"})
        EXPECT_NE(rejection([&] { request_document(file, {change}, {}); }).find("--set"),
                  std::string::npos)
            << change;
    EXPECT_NE(rejection([&] {
                  request_document(file, {}, {{"a", "b"}});
              }).find("not an object"),
              std::string::npos);
    const std::string broken = work.write("b.json", "{").string();
    EXPECT_NE(rejection([&] { request_document(broken, {"a=1"}, {}); }).find("not valid JSON"),
              std::string::npos);
    const std::string list = work.write("c.json", "[]").string();
    EXPECT_NE(rejection([&] { request_document(list, {"a=1"}, {}); }).find("not a JSON object"),
              std::string::npos);
    const std::string folder = work.path().string();
    EXPECT_EQ(rejection([&] { request_document(folder, {}, {}); }),
              folder + " cannot be read: it is a folder");
    EXPECT_EQ(rejection([&] { request_document(folder + "/none", {}, {}); }),
              folder + "/none cannot be read: No such file or directory");
}

TEST_F(RequestDocument, toml_is_the_same_document) {
    const std::string file = work.write("job.toml", R"(
name = "digits"
[train]
epochs = 5
optimizer = {name = "adam", lr = 0.001}
shuffle = true
[[layers]]
n = 1
[[layers]]
n = 2
)")
                                 .string();
    EXPECT_EQ(Json::parse(request_document(file, {"train.epochs=6"}, {})), Json::parse(R"({
        "name": "digits", "layers": [{"n": 1}, {"n": 2}],
        "train": {"epochs": 6, "optimizer": {"name": "adam", "lr": 0.001}, "shuffle": true}})"));
}

TEST_F(RequestDocument, toml_that_json_cannot_say_is_rejected_with_its_line) {
    for (const auto& [text, said] :
         {std::pair{"a = 1\nb =", "f:2: "}, std::pair{"a = 1\nb = nan", "f:2: nan and inf"},
          std::pair{"a = 2026-01-01", "f:1: a time"}, std::pair{"a = 1\na = 2", "f:2: "}})
        EXPECT_TRUE(rejection([&] { toml_to_json(text, "f"); }).starts_with(said)) << text;
}

}    // namespace
}    // namespace slipway::client

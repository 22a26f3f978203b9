// The machinery below the tables: nearest names, order of problems, kinds, objects.
#include <gtest/gtest.h>

#include <random>

#include "api/base/parsed_json.h"
#include "api/spec/table/collections.h"
#include "api/spec/table/object.h"
#include "tests/api/spec/examples.h"

namespace slipway {
namespace {

struct NearestCase {
    std::string_view word;
    std::string_view meant;    // empty: nothing is near
};

TEST(Nearest, it_finds_what_was_meant_and_nothing_else) {
    const auto names = std::to_array<std::string_view>(
        {"optimizer", "batch_size_per_core", "lr", "momentum", "seed", "val_fraction", "cores"});
    for (const NearestCase& one :
         {NearestCase{"optimiser", "optimizer"}, NearestCase{"Optimizer", "optimizer"},
          NearestCase{"optimzier", "optimizer"}, NearestCase{"batch_size", "batch_size_per_core"},
          NearestCase{"batch-size-per-core", "batch_size_per_core"},
          NearestCase{"learning_rate", "lr"}, NearestCase{"sede", "seed"},
          NearestCase{"core", "cores"}, NearestCase{"valfraction", "val_fraction"},
          NearestCase{"zebra", ""}, NearestCase{"", ""}, NearestCase{"x", ""}}) {
        EXPECT_EQ(nearest(one.word, names).value_or(""), one.meant) << one.word;
    }
}

TEST(Nearest, words_of_any_bytes_and_lengths_do_no_harm) {
    std::mt19937_64 engine(7);
    const auto names = std::to_array<std::string_view>({"alpha", "beta"});
    for (std::size_t length = 0; length < 200; ++length) {
        std::string word(length, ' ');
        for (char& c : word)
            c = char(engine());
        nearest(word, names);
    }
    const std::string longest(64, 'a');
    const auto same = std::to_array<std::string_view>({longest});
    EXPECT_TRUE(nearest(longest, same));
    EXPECT_FALSE(nearest(longest + "a", same));
}

TEST(Problems, they_are_sorted_as_pointers_not_as_texts) {
    std::vector<Problem> problems{{"/a/10", "c", ""}, {"/b", "c", ""}, {"/a/9", "c", ""},
                                  {"", "c", ""},      {"/a", "c", ""}, {"/a-b", "c", ""}};
    sort_problems(problems);
    std::string order;
    for (const Problem& one : problems)
        order += one.pointer + " ";
    EXPECT_EQ(order, " /a /a/9 /a/10 /a-b /b ");
}

TEST(Problems, paths_are_shown_with_dots_and_brackets) {
    EXPECT_EQ(dotted_path("/model/hidden/2"), "model.hidden[2]");
    EXPECT_EQ(dotted_path("/a~1b/c~0d"), "a/b.c~d");
    EXPECT_EQ(dotted_path(""), "the document");
}

TEST(Values, long_and_odd_values_are_shown_short) {
    EXPECT_EQ(shown(Json("abc")), "\"abc\"");
    EXPECT_EQ(shown(Json::array({1})), "an array");
    EXPECT_EQ(shown(Json::object()), "an object");
    EXPECT_EQ(shown(Json(1e300 * 1e300)), "a number too large to represent");
    EXPECT_EQ(shortened("äöü", 2), "äö…");
    EXPECT_EQ(shortened("äöü", 3), "äöü");
}

enum class Shape { circle, square };

struct Figure {
    Shape shape = Shape::circle;
    double radius = 1;
    std::int64_t side = 1;
    std::optional<std::string> title;
    std::vector<std::int64_t> marks;
};

}    // namespace

template <>
struct Spelling<Shape> {
    static constexpr std::array<std::string_view, 2> words{"circle", "square"};
};

namespace {

const Object<Figure>& figure_table() {
    static const auto table =
        Object<Figure>("Figure", "A figure.")
            .variants("shape", {"circle", "square"}, "circle",
                      [](const Figure& figure) { return to_string(figure.shape); })
            .field("shape", &Figure::shape, "Which.", Choice<Shape>{.later = {"star"}})
            .field("radius", &Figure::radius, "Of a circle.", Number{.max = 10, .above = 0},
                   {.only = {"circle"}})
            .field("side", &Figure::side, "Of a square.", Integer{.min = 1, .max = 3},
                   {.required = true, .only = {"square"}})
            .field("title", &Figure::title, "What it is called.", Text{.max = 3},
                   {.nullable = true})
            .field("marks", &Figure::marks, "Marks.",
                   List<Integer>{.item = {.min = 0, .max = 9}, .max = 2},
                   {.absent_when_empty = true})
            .rule([](const Json&, Figure& figure, const Reader& at) {
                if (figure.radius > 5) at.at("radius").report("inconsistent", "too round");
            });
    return table;
}

struct TableCase {
    std::string_view json;
    std::string problems;
};

TEST(Table, fields_variants_and_rules_are_judged) {
    for (const TableCase& one : std::vector<TableCase>{
             {R"({})", ""},
             {R"({"shape":"square","side":2})", ""},
             {R"({"shape":"square"})", "/side missing_field\n"},
             {R"({"side":2})", "/side not_in_this_variant\n"},
             {R"({"shape":"star","side":9})", "/shape not_available_yet\n/side out_of_bounds\n"},
             {R"({"radius":10})", "/radius inconsistent\n"},
             {R"({"radius":10.5})", "/radius out_of_bounds\n"},
             {R"({"radius":6,"title":"long"})", "/title out_of_bounds\n"},
             {R"({"title":null})", ""},
             {R"({"title":"äöü"})", ""},
             {R"({"marks":[1,2,3]})", "/marks out_of_bounds\n"},
             {R"({"marks":[1,10]})", "/marks/1 out_of_bounds\n"},
         }) {
        EXPECT_EQ(summary_of(figure_table().check(Json::parse(one.json))), one.problems)
            << one.json;
    }
}

TEST(Table, the_schema_says_what_the_decoder_does) {
    Definitions definitions("#/$defs/");
    const Json schema = figure_table().schema(definitions);
    const Json& circle = schema["anyOf"][0];
    EXPECT_EQ(circle["properties"]["radius"]["exclusiveMinimum"], 0);
    EXPECT_EQ(circle["properties"]["radius"]["default"], 1);
    EXPECT_EQ(circle["additionalProperties"], false);
    EXPECT_FALSE(circle.contains("required"));
    EXPECT_EQ(schema["anyOf"][1]["required"], Json::array({"shape", "side"}));
    EXPECT_EQ(circle["properties"]["title"]["anyOf"][1]["type"], "null");
}

struct Tree {
    std::array<std::string, 2> names;
    std::vector<Tree> branches;
    bool operator==(const Tree&) const = default;
};

const Object<Tree>& tree_table() {
    static const auto table = Object<Tree>("Tree", "A tree.")
                                  .field("names", &Tree::names, "Two of them.",
                                         Pair<Text>{{.max = 3}}, {.required = true})
                                  .field("branches", &Tree::branches, "What grows on it.",
                                         List<Recursive<Tree>>{.item = {&tree_table}, .max = 2},
                                         {.absent_when_empty = true});
    return table;
}

TEST(Table, an_object_may_contain_its_like) {
    const Json json = Json::parse(
        R"({"names":["a","b"],"branches":[{"names":["c","d"],"branches":[{"names":["e","f"]}]}]})");
    std::vector<Problem> problems;
    Tree tree;
    tree_table().read(json, tree, Reader(problems, tree_table()));
    EXPECT_EQ(summary_of(problems), "");
    EXPECT_EQ(tree.branches.at(0).branches.at(0).names, (std::array<std::string, 2>{"e", "f"}));
    EXPECT_EQ(tree_table().write(tree), json);
    EXPECT_EQ(summary_of(tree_table().check(Json::parse(
                  R"({"names":["a","long"],"branches":[{"names":["c"]},{"leaf":1}]})"))),
              "/branches/0/names out_of_bounds\n/branches/1/leaf unknown_field\n"
              "/branches/1/names missing_field\n/names/1 out_of_bounds\n");
    Definitions definitions("#/$defs/");
    definitions.refer(tree_table());
    EXPECT_EQ(definitions.all().at("Tree")["properties"]["branches"]["items"]["$ref"],
              "#/$defs/Tree");
}

TEST(Table, writing_leaves_out_what_is_not_there) {
    EXPECT_EQ(figure_table().write({}), (Json{{"shape", "circle"}, {"radius", 1.0}}));
    EXPECT_EQ(figure_table().write({.shape = Shape::square, .title = "a", .marks = {3}}),
              (Json{{"shape", "square"}, {"side", 1}, {"title", "a"}, {"marks", {3}}}));
}

}    // namespace
}    // namespace slipway

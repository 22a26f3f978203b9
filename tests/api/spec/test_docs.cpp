// Goal: the documentation says what the tables say, and its examples are accepted.
// Method: sections between `<!-- table NAME -->` and `<!-- end -->` are compared with what the
// tables give; SLIPWAY_UPDATE=1 rewrites them. JSON after `<!-- example NAME -->` is decoded.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "api/spec/dataset_format.h"
#include "api/spec/documents.h"
#include "api/spec/event.h"
#include "api/spec/job_kind.h"
#include "api/spec/job_state.h"
#include "tests/api/spec/examples.h"

namespace slipway {
namespace {

std::string transitions_table() {
    std::string text = "| from | to | because |\n|---|---|---|\n";
    for (const Transition& row : transitions()) {
        text += fmt::format("| `{}` | `{}` | {} |\n", to_string(row.from), to_string(row.to),
                            row.cause);
    }
    return text;
}

/// The text with everything between `start` and the next end marker replaced.
std::string with_section(const std::string& text, const std::string& start,
                         const std::string& section) {
    const std::size_t begin = text.find(start + "\n");
    if (begin == text.npos) return text;
    const std::size_t from = begin + start.size() + 1;
    const std::size_t to = text.find("<!-- end -->", from);
    return text.substr(0, from) + section + text.substr(to);
}

void expect_fresh(const std::string& file, const std::string& fresh) {
    if (source_file(file) == fresh) return;
    if (std::getenv("SLIPWAY_UPDATE") != nullptr) {
        std::ofstream(std::filesystem::path(SLIPWAY_SOURCE_DIR) / file) << fresh;
        return;
    }
    ADD_FAILURE() << file << " is older than the tables; run this test with SLIPWAY_UPDATE=1";
}

/// A table without the fields of an object that has a table elsewhere.
std::string without_rows(const std::string& table, const std::string& begin) {
    std::string kept;
    std::istringstream lines(table);
    for (std::string line; std::getline(lines, line);)
        if (!line.starts_with(begin)) kept += line + "\n";
    return kept;
}

TEST(Docs, the_tables_of_fields_are_fresh) {
    std::string text = source_file("docs/formats.md");
    for (const std::string name :
         {"JobSpec", "LayerSpec", "AugmentSpec", "DatasetCreate", "SplitCreate", "UploadCreate"}) {
        const std::string start = "<!-- table " + name + " -->";
        ASSERT_NE(text.find(start), text.npos) << name;
        text = with_section(text, start, markdown_table(name));
    }
    expect_fresh("docs/formats.md", text);
    for (const auto& [file, name] : {std::pair{"docs/predictions.md", "PredictionSpec"},
                                     std::pair{"docs/evaluations.md", "EvaluationSpec"},
                                     std::pair{"docs/cross-validation.md", "CrossValidationSpec"},
                                     std::pair{"docs/search-algorithms.md", "SweepSpec"},
                                     std::pair{"docs/search-algorithms.md", "SweepSuggest"},
                                     std::pair{"docs/search-algorithms.md", "SweepObserve"}}) {
        const std::string start = fmt::format("<!-- table {} -->", name);
        const std::string table = without_rows(markdown_table(name), "| `job.");
        expect_fresh(file, with_section(source_file(file), start, table));
    }
}

TEST(Docs, every_dataset_format_has_an_example_and_its_place_in_the_documents) {
    std::string examples;
    for (const std::string& name : example_names("dataset_"))
        examples += example(name).at("format").get<std::string>() + "\n";
    for (const std::string_view format : all_words<DatasetFormat>()) {
        EXPECT_NE(examples.find(fmt::format("{}\n", format)), examples.npos) << format;
        EXPECT_NE(source_file("README.md").find(fmt::format("`{}`", format)), std::string::npos)
            << format;
        EXPECT_NE(source_file("docs/formats.md").find(fmt::format("\n| `{}` | ", format)),
                  std::string::npos)
            << format;
    }
}

template <class Word>
std::string words_module(const std::string& source, const std::string& list_name,
                         const std::string& type_name) {
    std::string list;
    for (const std::string_view word : all_words<Word>())
        list += fmt::format("  \"{}\",\n", word);
    return fmt::format(
        "// Written by test_api_spec from {0}; SLIPWAY_UPDATE=1 renews it.\n"
        "export const {1} = [\n{2}] as const;\n\nexport type {3} = (typeof {1})[number];\n",
        source, list_name, list, type_name);
}

TEST(Docs, the_words_of_the_dashboard_are_fresh) {
    expect_fresh("web/src/api/event_types.ts",
                 words_module<EventType>("api/spec/event.h", "event_types", "EventType"));
    expect_fresh("web/src/api/project_event_types.ts",
                 words_module<ProjectEventType>("api/spec/event.h", "project_event_types",
                                                "ProjectEventType"));
    expect_fresh("web/src/api/job_kinds.ts",
                 words_module<JobKind>("api/spec/job_kinds.def", "job_kinds", "JobKind"));
}

// Goal: the events that have a row in the page are those that a client can get.
TEST(Docs, every_event_type_is_explained) {
    const std::string text = source_file("docs/formats.md");
    const std::size_t begin = text.find("\n## Events\n");
    ASSERT_NE(begin, text.npos);
    const std::string section = text.substr(begin);
    for (const std::string_view word : all_words<EventType>())
        EXPECT_NE(section.find(fmt::format("`{}`", word)), text.npos) << word;
}

TEST(Docs, the_table_of_transitions_is_fresh) {
    expect_fresh("docs/job_states.md", with_section(source_file("docs/job_states.md"),
                                                    "<!-- transitions -->", transitions_table()));
}

TEST(Docs, every_example_is_accepted) {
    const std::string text = source_file("docs/formats.md");
    const std::string mark = "<!-- example ";
    std::size_t examples = 0;
    for (std::size_t at = text.find(mark); at != text.npos; at = text.find(mark, at + 1)) {
        const std::size_t name_at = at + mark.size();
        const std::string name = text.substr(name_at, text.find(' ', name_at) - name_at);
        const std::size_t begin = text.find("```json\n", at) + 8;
        const std::string body = text.substr(begin, text.find("```", begin) - begin);
        const auto problems = check_document(name, parse_json(body).value().value);
        EXPECT_TRUE(problems.empty()) << body << joined_messages(problems);
        ++examples;
    }
    EXPECT_GE(examples, 5U);
}

TEST(Docs, every_file_of_the_examples_is_accepted) {
    const auto folder = std::filesystem::path(SLIPWAY_SOURCE_DIR) / "docs/examples";
    std::size_t jobs = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() != ".json") continue;
        const std::string name = entry.path().filename();
        const auto parsed = parse_json(source_file("docs/examples/" + name)).value();
        const bool is_dataset = parsed.value.contains("format");
        EXPECT_EQ(joined_messages(is_dataset ? decode_dataset_create(parsed).problems
                                             : decode_job_spec(parsed).problems),
                  "")
            << name;
        jobs += is_dataset ? 0 : 1;
    }
    EXPECT_EQ(jobs, 5U);
}

TEST(Docs, what_deploy_submits_is_accepted) {
    const auto job = parse_json(source_file("deploy/example-job.json")).value();
    EXPECT_EQ(joined_messages(decode_job_spec(job).problems), "");
    const auto dataset = parse_json(source_file("deploy/example-dataset.json")).value();
    EXPECT_EQ(joined_messages(decode_dataset_create(dataset).problems), "");
}

}    // namespace
}    // namespace slipway

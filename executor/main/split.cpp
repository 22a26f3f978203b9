#include "executor/main/split.h"

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <nlohmann/json.hpp>

#include "api/base/parsed_json.h"
#include "api/base/posix.h"
#include "api/spec/documents.h"
#include "executor/data/split/make.h"
#include "executor/main/problem_report.h"

namespace slipway {

namespace {

SplitCreate read_split_request(const std::string& text) {
    const auto parsed = parse_json(text);
    if (!parsed) throw Error{ErrorCode::invalid_argument, parsed.error().what()};
    Decoded<SplitCreate> decoded = decode_split_create(*parsed);
    if (decoded.ok()) return std::move(decoded.value);
    throw Error{ErrorCode::invalid_argument, joined_messages(decoded.problems)};
}

Json divide(const SplitCommand& command) {
    const Json options = Json::parse(command.options, nullptr, false);
    if (options.is_discarded()) {
        throw Error{ErrorCode::invalid_argument, "the options of the dataset are not JSON"};
    }
    MadeSplit made = make_split({.format = command.format,
                                 .path = command.path,
                                 .options = parse_dataset_options(options),
                                 .request = read_split_request(command.request),
                                 .content_hash = command.content_hash,
                                 .threads = command.threads});
    write_file_aside(command.out, made.manifest);
    made.report["bytes"] = made.manifest.size();
    made.report["problem_count"] = 0;
    return std::move(made.report);
}

}    // namespace

CLI::App* add_split(CLI::App& app, SplitCommand& command) {
    CLI::App* split = app.add_subcommand(
        "split", "Divides a dataset into folds, writes the manifest and prints a JSON report");
    split
        ->add_option("--format", command.format,
                     fmt::format("{}", fmt::join(dataset_formats(), ", ")))
        ->required();
    split->add_option("--path", command.path, "The dataset")->required();
    split->add_option("--options", command.options, "Options of the dataset, as a JSON object");
    split
        ->add_option("--request", command.request,
                     R"(How, as a JSON object: {"method": "group_kfold", "folds": 5, …})")
        ->required();
    split->add_option("--content-hash", command.content_hash, "That the dataset must have");
    split->add_option("--out", command.out, "The manifest's file")->required();
    split->add_option("--threads", command.threads, "Default: one per CPU")
        ->check(CLI::Range(0, 64));
    return split;
}

std::string split_to_json(const SplitCommand& command) {
    constexpr std::size_t report_bytes_max = 16 << 20;    // as much as the agent reads
    return report_or_problem([&] { return divide(command); }, report_bytes_max);
}

}    // namespace slipway

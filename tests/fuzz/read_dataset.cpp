#include "tests/fuzz/read_dataset.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "api/base/check.h"
#include "executor/data/inspect.h"

namespace slipway {

namespace {

/// Whether a training run could read all of it; the message of what stopped it goes to `reason`.
bool reads_whole(std::string_view format, const std::filesystem::path& folder,
                 const DatasetOptions& options, std::string& reason) {
    try {
        const auto dataset = open_dataset(format, folder, options);
        std::vector<float> features(std::size_t(dataset->index().feature_count()));
        for (std::int64_t i = 0; i < dataset->size(); ++i)
            dataset->read(i, features);
        return true;
    } catch (const Error& error) {    // the allowed end; what else is thrown is a bug
        check(error.code() != ErrorCode::internal, "a file is never our fault");
        reason = error.what();
        return false;
    }
}

std::string problems_of(const nlohmann::json& report) {
    std::string text;
    for (const auto& one : report["problems"]) {
        const DataProblem problem{one["file"].is_null() ? "" : one["file"].get<std::string>(),
                                  one["row"].is_null() ? 0 : one["row"].get<std::int64_t>(),
                                  one["field"].is_null() ? "" : one["field"].get<std::string>(),
                                  one["message"].get<std::string>()};
        check(!problem.file.empty(), "a problem names its file");
        text += (text.empty() ? "" : "\n") + to_string(problem);
    }
    return text;
}

}    // namespace

std::string read_dataset(std::string_view format, const std::filesystem::path& folder,
                         const DatasetOptions& options) {
    std::string found, reason;
    bool clean = false;
    try {
        const nlohmann::json report = inspect_dataset(format, folder, options, 1);
        clean = report["problem_count"] == 0;
        found = clean ? fmt::format("{} samples of {} classes", report["samples"].dump(),
                                    report["classes"].size())
                      : problems_of(report);
        report.dump();                // refuses what is not UTF-8
    } catch (const Error& error) {    // a limit, or options that do not fit these files
        check(error.code() != ErrorCode::internal, "a file is never our fault");
        found = error.what();
    }
    if (format == "text") return found;    // executor/text opens it
    const bool whole = reads_whole(format, folder, options, reason);
    if (whole != clean) fmt::print(stderr, "inspected: {}\nread: {}\n", found, reason);
    check(whole == clean, "an inspection without problems is of a set that can be read");
    return found;
}

}    // namespace slipway

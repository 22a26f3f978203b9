#include "executor/main/inspect.h"

#include <nlohmann/json.hpp>

#include "api/base/json.h"
#include "api/spec/dataset_format.h"
#include "executor/data/inspect.h"
#include "executor/data/preview.h"
#include "executor/data/problem.h"
#include "executor/data/unpack.h"
#include "executor/main/problem_report.h"

namespace slipway {

namespace {

KeptArchive kept_archive(std::string_view name) {
    const auto format = parse_word<DatasetFormat>(name);
    return format ? traits(*format).keeps_archive : KeptArchive::none;
}

Json inspect(const InspectOptions& options) {
    const Json parsed = Json::parse(options.options, nullptr, false);
    if (parsed.is_discarded()) {
        throw Error{ErrorCode::invalid_argument, "the options of the dataset are not JSON"};
    }
    std::filesystem::path path = options.path;
    Json unpacked;
    if (!options.unpack.empty()) {
        const UnpackReport report = unpack(options.unpack, options.name, options.into,
                                           {.kept = kept_archive(options.format)});
        unpacked = {{"files", report.files}, {"bytes", report.bytes}, {"archive", report.archive}};
        if (path.empty()) path = options.into;
    }
    const DatasetOptions how = parse_dataset_options(parsed);
    Json report =
        inspect_dataset(options.format, path, how, options.threads, {.folder = options.memory});
    if (options.preview && report["problem_count"] == 0) {
        report["preview"] = preview_dataset(options.format, path, how);
    }
    if (!unpacked.is_null()) report["unpacked"] = std::move(unpacked);
    return report;
}

}    // namespace

std::string inspect_to_json(const InspectOptions& options) {
    constexpr std::size_t report_bytes_max = 4 << 20;    // the agent reads twice as much
    return report_or_problem([&] { return inspect(options); }, report_bytes_max);
}

}    // namespace slipway

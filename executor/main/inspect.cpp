#include "executor/main/inspect.h"

#include <nlohmann/json.hpp>

#include "api/base/json.h"
#include "executor/data/inspect.h"
#include "executor/data/problem.h"
#include "executor/data/unpack.h"

namespace slipway {

namespace {

Json inspect(const InspectOptions& options) {
    const Json parsed = Json::parse(options.options, nullptr, false);
    if (parsed.is_discarded()) {
        throw Error{ErrorCode::invalid_argument, "the options of the data set are not JSON"};
    }
    std::filesystem::path path = options.path;
    Json unpacked;
    if (!options.unpack.empty()) {
        const UnpackReport report = unpack(options.unpack, options.name, options.into,
                                           {.tar_is_a_file = options.format == "webdataset"});
        unpacked = {{"files", report.files}, {"bytes", report.bytes}, {"archive", report.archive}};
        if (path.empty()) path = options.into;
    }
    Json report =
        inspect_dataset(options.format, path, parse_dataset_options(parsed), options.threads);
    if (!unpacked.is_null()) report["unpacked"] = std::move(unpacked);
    return report;
}

Json failed(ErrorCode code, const DataProblem& problem) {
    Json row{{"file", problem.file},
             {"row", problem.row},
             {"field", problem.field},
             {"message", problem.message}};
    return {{"error", to_string(code)},
            {"problems", Json::array({std::move(row)})},
            {"problem_count", 1}};
}

}    // namespace

std::string inspect_to_json(const InspectOptions& options) {
    Json report;
    try {
        report = inspect(options);
    } catch (const DataError& error) {
        report = failed(error.code(), error.problem());
    } catch (const Error& error) {
        report = failed(error.code(), {.file = {}, .row = 0, .field = {}, .message = error.what()});
    }
    return report.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}    // namespace slipway

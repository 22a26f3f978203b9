#include "executor/main/problem_report.h"

#include <nlohmann/json.hpp>

#include "executor/data/problem.h"

namespace slipway {

namespace {

Json failed_report(ErrorCode code, const DataProblem& problem) {
    Json row{{"file", problem.file},
             {"row", problem.row},
             {"field", problem.field},
             {"message", problem.message}};
    return {{"error", to_string(code)},
            {"problems", Json::array({std::move(row)})},
            {"problem_count", 1}};
}

}    // namespace

std::string report_or_problem(const std::function<Json()>& make) {
    Json report;
    try {
        report = make();
    } catch (const DataError& error) {
        report = failed_report(error.code(), error.problem());
    } catch (const Error& error) {
        report = failed_report(error.code(),
                               {.file = {}, .row = 0, .field = {}, .message = error.what()});
    }
    return report.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}    // namespace slipway

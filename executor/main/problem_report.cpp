#include "executor/main/problem_report.h"

#include <fmt/core.h>

#include <new>
#include <nlohmann/json.hpp>

#include "executor/data/problem.h"

namespace slipway {

namespace {

std::string as_text(const Json& report) {
    return report.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string failed_report(ErrorCode code, const DataProblem& whole) {
    const DataProblem problem = shortened(whole);
    Json row{{"file", problem.file},
             {"row", problem.row},
             {"field", problem.field},
             {"message", problem.message}};
    return as_text({{"error", to_string(code)},
                    {"problems", Json::array({std::move(row)})},
                    {"problem_count", 1}});
}

}    // namespace

std::string report_or_problem(const std::function<Json()>& make, std::size_t bytes_max) {
    try {
        std::string text = as_text(make());
        if (text.size() <= bytes_max) return text;
        return failed_report(
            ErrorCode::exhausted,
            {.message = fmt::format("the report has {} bytes, more than {}; shorten the names of "
                                    "classes, groups, columns and files",
                                    text.size(), bytes_max)});
    } catch (const DataError& error) {
        return failed_report(error.code(), error.problem());
    } catch (const Error& error) {
        return failed_report(error.code(), {.message = error.what()});
    } catch (const std::bad_alloc&) {    // of the limit that the process was given
        return failed_report(ErrorCode::exhausted,
                             {.message = "reading the files takes more memory than this process "
                                         "may have; make the dataset smaller"});
    }
}

}    // namespace slipway

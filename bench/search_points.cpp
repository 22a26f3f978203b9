// A search as a process, for programs that measure it: one JSON object a line comes in, one goes
// out.
//   {"space": {…}, "constraints": […], "algorithm": {…}, "seed": 1, "max_trials": 100}
//       begins a search                                  -> {"point": {…}}
//   {"value": 0.5}  what came of the last point          -> {"point": {…}}, or {} at the end
// NaN is written as null. search_quality.py is the other side.
#include <fmt/core.h>

#include <cmath>
#include <iostream>
#include <optional>
#include <string>

#include "api/base/parsed_json.h"
#include "scheduler/search/search.h"

namespace {

using namespace slipway;
using namespace slipway::search;

/// Ends the program when something is wrong with what was asked for.
void require(const std::vector<Problem>& problems) {
    if (problems.empty()) return;
    fmt::print(stderr, "{}\n", joined_messages(problems));
    std::exit(2);
}

Search begun(const Json& line) {
    const auto source = decode_search_space(Json{
        {"space", line.at("space")}, {"constraints", line.value("constraints", Json::array())}});
    const auto algorithm = decode_algorithm(line.at("algorithm"));
    require(source.problems);
    require(algorithm.problems);
    std::vector<Problem> problems;
    std::optional<Space> space = Space::compile(source.value, problems);
    require(problems);
    return Search(std::move(*space), {.algorithm = algorithm.value,
                                      .seed = line.at("seed").get<std::uint64_t>(),
                                      .max_trials = line.at("max_trials").get<std::int64_t>()});
}

void answer(Search& search) {
    const Decision decision = search.on(AskEvent{}).back();
    const bool is_start = decision.action == Action::start;
    fmt::print("{}\n", is_start ? Json{{"point", decision.point}}.dump() : "{}");
    std::fflush(stdout);
}

}    // namespace

int main() {
    std::optional<Search> search;
    std::string text;
    while (std::getline(std::cin, text)) {
        const Json line = Json::parse(text);
        if (line.contains("space")) {
            search.emplace(begun(line));
        } else if (search) {
            const std::int64_t trial = std::int64_t(search->trials().size()) - 1;
            const Json& value = line.at("value");
            search->on(ReportEvent{trial, 1, value.is_null() ? std::nan("") : value.get<double>()});
            search->on(EndEvent{trial, false});
        }
        if (search) answer(*search);
    }
    return 0;
}

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "api/base/printable.h"
#include "api/client/commands.h"

namespace slipway::client {
namespace {

/// The answer as it came: text, or JSON that is too large to be laid out anew. Names of tensors and
/// of columns are in it, and those are other people's.
ExitCode print_raw(const HttpClient& client, std::string target) {
    const ClientResponse response = call_raw(client, {.target = std::move(target)});
    require_success(response);
    fmt::print("{}", printable_text(response.body));
    if (!response.body.ends_with('\n')) fmt::print("\n");
    return ExitCode::ok;
}

std::string megabytes(const Json& memory, const char* name) {
    return fmt::format("{:.1f} MB", memory.value(name, 0.0) / 1e6);
}

}    // namespace

ExitCode print_report(const HttpClient& client, const std::string& job_id, bool json) {
    return print_raw(client, job_path(job_id) + (json ? "/report" : "/report?format=text"));
}

ExitCode print_graphs(const HttpClient& client, const std::string& job_id, const std::string& hash,
                      const std::string& format) {
    if (!hash.empty()) {
        return print_raw(client, fmt::format("{}/graphs/{}?format={}", job_path(job_id),
                                             percent_encode(hash), percent_encode(format)));
    }
    std::vector<std::vector<std::string>> rows;
    const Json page = get(client, job_path(job_id) + "/graphs");
    for (const Json& graph : page.at("items"))
        rows.push_back({cell(graph, "hash"), cell(graph, "program"), cell(graph, "nodes"),
                        cell(graph, "kernels"), cell(graph, "compile_s"),
                        megabytes(graph.at("memory"), "peak_bytes"), cell(graph, "cause")});
    print_table({"hash", "program", "nodes", "kernels", "compile s", "peak", "cause"}, rows);
    return ExitCode::ok;
}

ExitCode print_trace(const HttpClient& client, const std::string& job_id) {
    return print_raw(client, job_path(job_id) + "/trace");
}

}    // namespace slipway::client

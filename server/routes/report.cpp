#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "api/base/check.h"
#include "api/base/parsed_json.h"
#include "scheduler/store/sweeps.h"
#include "server/http/files.h"
#include "server/http/problem.h"
#include "server/routes/handlers.h"
#include "server/routes/lookup.h"
#include "server/routes/problems.h"
#include "server/routes/query.h"
#include "server/routes/render.h"
#include "server/routes/report_files.h"

namespace slipway::routes {
namespace {

constexpr std::size_t items_max = 1000000;

Response send(const Context& context, const OpenedFile& file, std::string media_type) {
    return file_response(context.request, file,
                         {.media_type = std::move(media_type),
                          .download_name = {},
                          .etag = {},
                          .cache_control = "private, no-cache"});
}

Json read_json(const OpenedFile& file) {
    auto parsed = parse_json(read_whole(file, report_bytes_max),
                             {.bytes_max = report_bytes_max, .items_max = items_max});
    if (!parsed)
        throw Error(ErrorCode::data_loss,
                    fmt::format("a file of a report is damaged: {}", parsed.error().what()));
    return std::move(parsed).value().value;
}

/// How a program is asked for: a file of its own, or a text in the file of all of it.
struct GraphForm {
    std::string_view format;
    std::string_view ending;
    std::string_view member;    ///< of the JSON; empty: the file as it is
    std::string_view media_type;
};
constexpr std::string_view plain_text = "text/plain; charset=utf-8";
constexpr std::array graph_forms{
    GraphForm{"json", ".json", "", "application/json"}, GraphForm{"ir", ".json", "ir", plain_text},
    GraphForm{"stablehlo", ".mlir", "", plain_text},    GraphForm{"dot", ".dot", "", plain_text},
    GraphForm{"program", ".json", "text", plain_text},
};

const GraphForm& graph_form(const Request& request) {
    const std::string format = query_text(request, "format");
    const auto form = std::ranges::find(graph_forms, format, &GraphForm::format);
    check(format.empty() || form != graph_forms.end(), "the query was checked");
    return format.empty() ? graph_forms.front() : *form;
}

bool is_hash(const std::string& text) {
    return text.size() == 32 && std::ranges::all_of(text, [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
           });
}

bool wants_text(const Request& request) {
    const std::string format = query_text(request, "format");
    if (!format.empty()) return format == "text";
    return request.header("accept").value_or("").starts_with("text/plain");
}

// What a sweep has deleted of a trial that it has passed by is gone; what is not there yet may
// come.
void require_whole(const Context& context, const store::Job& job) {
    if (!job.parent || !store::is_report_trimmed(context.services.store, job.id)) return;
    throw ProblemError(
        {.status = 410,
         .code = "gone",
         .detail = fmt::format("the programs and the timeline of job {} were deleted when its "
                               "sweep had passed its trial by; to see them, submit its spec as a "
                               "job, or create the sweep with keep_reports \"all\"",
                               job.id)});
}

}    // namespace

Response get_job_report(const Context& context) {
    const store::Job job = the_job(context);
    const std::int64_t epoch = query_number(context.request, "epoch", 0);
    const std::string name = epoch > 0 ? fmt::format("epochs/{:06}", epoch) : "report";
    if (wants_text(context.request))
        return send(context, report_file(context, job, name + ".txt"), std::string(plain_text));
    return send(context, report_file(context, job, name + ".json"), "application/json");
}

Response get_job_evaluation(const Context& context) {
    const store::Job job = the_job(context);
    return send(context, report_file(context, job, "evaluation.json"), "application/json");
}

Response list_job_graphs(const Context& context) {
    const store::Job job = the_job(context);
    return json_response(render_list(read_json(report_file(context, job, "graphs.json"))));
}

Response get_job_graph(const Context& context) {
    const store::Job job = the_job(context);
    require_whole(context, job);
    const std::string& hash = context.request.parameter("hash");
    report_file(context, job, "graphs.json");    // first of all: has it made any program
    const auto page = is_hash(hash)
                          ? open_below(context.services.artifacts.folder(Artifact::report),
                                       fmt::format("{}/graphs/{}.json", job.id, hash))
                          : std::nullopt;
    if (!page) throw_not_found("program of this job", hash);
    const GraphForm& form = graph_form(context.request);
    if (!form.member.empty())
        return text_response(read_json(*page).value(form.member, std::string()));
    const std::string name = fmt::format("graphs/{}{}", hash, form.ending);
    return send(context, report_file(context, job, name), std::string(form.media_type));
}

Response get_job_trace(const Context& context) {
    const store::Job job = the_job(context);
    require_whole(context, job);
    return send(context, report_file(context, job, "trace.json"), "application/json");
}

}    // namespace slipway::routes

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "api/base/id.h"
#include "api/base/metric_value.h"
#include "scheduler/store/metrics/curve.h"
#include "server/http/files.h"
#include "server/routes/handlers.h"
#include "server/routes/heavy_requests.h"
#include "server/routes/lookup.h"
#include "server/routes/problems.h"
#include "server/routes/query.h"
#include "server/routes/render.h"

namespace slipway::routes {
namespace {

// Of one answer, whatever was asked for.
constexpr std::int64_t points_max = 200000;
constexpr std::int64_t names_max = 1000;
constexpr std::size_t jobs_max = 100;

struct Curve {
    std::string name;
    std::vector<store::MetricBucket> points;
    bool summarised = false;    // its points stand for several each
    bool thinned = false;       // because there are too many
};

// How many points of a curve an answer has at most, and how many were asked for; 0: every point.
struct AnswerSize {
    std::int64_t share = points_max;
    std::int64_t resolution = 0;
};

// A curve longer than its share of the answer is never cut: it is thinned over its whole length.
Curve read_curve(const Context& context, const std::string& job_id, const std::string& name,
                 const AnswerSize& size) {
    const Request& request = context.request;
    store::StepRange range{.first = query_number(request, "step_min", 0)};
    if (request.query("step_max")) range.last = query_number(request, "step_max", 0);
    const bool asked = size.resolution > 0 && size.resolution <= size.share;
    const std::int64_t buckets_max = asked ? size.resolution : size.share;
    store::Curve curve = store::read_curve(context.services.store, job_id, name, range,
                                           {.buckets_max = buckets_max, .points_max = buckets_max});
    return {.name = name,
            .points = std::move(curve.buckets),
            .summarised = curve.summarised || size.resolution > 0,
            .thinned = curve.summarised && !asked};
}

// The metrics that are asked for; empty: all.
std::vector<std::string> names_asked(const Context& context) {
    std::vector<std::string> names = query_words(context.request, "names");
    if (std::ssize(names) <= names_max) return names;
    const std::string message = fmt::format(
        "at most {} metrics, got {}; request the others separately", names_max, names.size());
    throw_problems({{.pointer = "/names", .code = "too_many", .message = message}}, "invalid_query",
                   "the query");
    return {};
}

// One curve is in memory at a time: what is left of the others is text. `jobs` share the answer.
template <class Use>
void for_each_curve(const Context& context, const store::Job& job, std::int64_t jobs,
                    std::int64_t resolution, const Use& use) {
    std::vector<std::string> names = names_asked(context);
    if (names.empty()) names = store::list_metric_names(context.services.store, job.id, names_max);
    const std::int64_t curves = jobs * std::max<std::int64_t>(1, std::ssize(names));
    const AnswerSize size{.share = std::max<std::int64_t>(1, points_max / curves),
                          .resolution = resolution};
    for (const std::string& name : names) {
        require_client(context.request);
        use(read_curve(context, job.id, name, size));
    }
}

template <class Use>
void for_each_curve(const Context& context, const store::Job& job, const Use& use) {
    for_each_curve(context, job, 1, query_number(context.request, "resolution", 0), use);
}

Json render_sample(const store::MetricSample& sample) {
    Json out{{"step", sample.step}, {"epoch", sample.epoch}, {"time", to_rfc3339(sample.time)}};
    put_value(out, sample.value);
    return out;
}

Json render_bucket(const store::MetricBucket& bucket) {
    Json out = render_sample(bucket.last);
    const bool any = bucket.finite() > 0;
    out["min"] = any ? Json(bucket.min) : Json(nullptr);
    out["max"] = any ? Json(bucket.max) : Json(nullptr);
    out["mean"] = any ? Json(bucket.mean) : Json(nullptr);
    out["count"] = bucket.count;
    if (bucket.nonfinite > 0) out["nonfinite_count"] = bucket.nonfinite;
    return out;
}

// As render_sample: with an object for each point, 10,000 of them take four times as long.
void append_sample(std::string& text, const store::MetricSample& sample) {
    const auto end = std::back_inserter(text);
    fmt::format_to(end, R"({{"step":{},"epoch":{},"time":"{}","value":)", sample.step, sample.epoch,
                   to_rfc3339(sample.time));
    const std::string_view nonfinite = nonfinite_word(sample.value);
    if (nonfinite.empty()) fmt::format_to(end, "{}}}", sample.value);
    if (!nonfinite.empty()) fmt::format_to(end, R"(null,"nonfinite":"{}"}})", nonfinite);
}

// Point by point: the objects of 200,000 points take ten times the memory of their text.
void append_curve(std::string& text, const Curve& curve) {
    text += fmt::format(R"({{"name":{},"points":[)", to_text(curve.name));
    for (const store::MetricBucket& point : curve.points) {
        if (&point != &curve.points.front()) text += ',';
        if (curve.summarised) text += to_text(render_bucket(point));
        if (!curve.summarised) append_sample(text, point.last);
    }
    text += curve.thinned ? R"(],"thinned":true})" : "]}";
}

// The jobs that are to be compared. errors  404 for one that the caller does not see; 422 for none
// or too many
std::vector<store::Job> jobs_asked(const Context& context) {
    const std::vector<std::string> ids = query_words(context.request, "jobs");
    if (ids.empty() || ids.size() > jobs_max)
        throw_problems({{.pointer = "/jobs",
                         .code = ids.empty() ? "missing_field" : "too_many",
                         .message = fmt::format("jobs must be 1 to {} ids of jobs, got {}",
                                                jobs_max, ids.size())}},
                       "invalid_query", "the query");
    std::vector<store::Job> jobs;
    for (const std::string& id : ids) {
        auto job = is_id("job", id) ? store::find_job(context.services.store, id) : std::nullopt;
        if (!job || !context.who.sees(job->project)) throw_not_found("job", id);
        jobs.push_back(*std::move(job));
    }
    return jobs;
}

}    // namespace

Response list_job_metrics(const Context& context) {
    const store::Job job = the_job(context);
    std::string series;
    for_each_curve(context, job, [&](const Curve& curve) {
        if (!series.empty()) series += ',';
        append_curve(series, curve);
    });
    return text_response(fmt::format("{{\"series\":[{}]}}\n", series), "application/json");
}

Response list_metrics(const Context& context) {
    const std::vector<store::Job> jobs = jobs_asked(context);
    const std::int64_t resolution = query_number(context.request, "resolution", 500);
    std::string text;
    for (const store::Job& job : jobs) {
        std::string series;
        for_each_curve(context, job, std::ssize(jobs), resolution, [&](const Curve& curve) {
            if (curve.points.empty()) return;
            if (!series.empty()) series += ',';
            append_curve(series, curve);
        });
        if (!text.empty()) text += ',';
        text +=
            fmt::format(R"({{"job_id":{},"name":{},"state":{},"series":[{}]}})", to_text(job.id),
                        to_text(job.name), to_text(to_string(job.state)), series);
    }
    return text_response(fmt::format("{{\"jobs\":[{}]}}\n", text), "application/json");
}

Response get_job_metrics_csv(const Context& context) {
    const store::Job job = the_job(context);
    if (query_text(context.request, "form") == "table") return get_job_metrics_table(context, job);
    std::string text = "name,step,epoch,value,time\n";
    bool thinned = false;
    for_each_curve(context, job, [&](const Curve& curve) {
        thinned = thinned || curve.thinned;
        for (const store::MetricBucket& point : curve.points)
            text += fmt::format("{},{},{},{},{}\n", curve.name, point.last.step, point.last.epoch,
                                point.last.value, to_rfc3339(point.last.time));
    });
    Response response = text_response(std::move(text), "text/csv; charset=utf-8")
                            .with("Content-Disposition", attachment_disposition(job.name + ".csv"));
    if (!thinned) return response;
    return std::move(response).with("X-Thinned", "true");
}

}    // namespace slipway::routes

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "api/base/metric_value.h"
#include "scheduler/store/curves.h"
#include "server/http/files.h"
#include "server/routes/downsample.h"
#include "server/routes/handlers.h"
#include "server/routes/lookup.h"
#include "server/routes/problems.h"
#include "server/routes/query.h"
#include "server/routes/render.h"

namespace slipway::routes {
namespace {

// Of one answer, whatever was asked for.
constexpr std::int64_t points_max = 200000;
constexpr std::int64_t names_max = 1000;
// Of a curve before it is measured.
constexpr std::int64_t points_read_at_once = 1000;

struct Curve {
    std::string name;
    std::vector<MetricBucket> points;
    bool stretches = false;    // its points stand for several each
    bool thinned = false;      // because there are too many
};

MetricSample to_sample(const store::MetricPoint& point) {
    return {point.step, point.epoch, point.value, point.time};
}

std::vector<MetricSample> read_samples(const Context& context, const std::string& job_id,
                                       const std::string& name, const store::StepRange& range,
                                       std::int64_t limit) {
    std::vector<MetricSample> samples;
    for (const store::MetricPoint& point : store::list_metrics(
             context.services.store, job_id,
             {.names = {name}, .step_min = range.first, .step_max = range.last, .limit = limit}))
        samples.push_back(to_sample(point));
    return samples;
}

// A curve longer than its share of the answer is never cut: it is thinned over its whole length.
Curve read_curve(const Context& context, const std::string& job_id, const std::string& name,
                 std::int64_t share) {
    const Request& request = context.request;
    store::StepRange range{.first = query_number(request, "step_min", 0), .last = std::nullopt};
    if (request.query("step_max")) range.last = query_number(request, "step_max", 0);
    const std::int64_t resolution = query_number(request, "resolution", 0);
    store::Store& store = context.services.store;
    Curve curve{.name = name, .points = {}, .stretches = resolution > 0};
    const auto keep = [&](const std::vector<MetricSample>& samples) -> Curve {
        const std::size_t buckets = resolution > 0 ? std::size_t(resolution) : samples.size();
        curve.points = downsample(samples, buckets);
        return std::move(curve);
    };
    // Most curves are short: their points cost less than finding out how many there are.
    const std::int64_t few = std::min<std::int64_t>(share, points_read_at_once);
    auto samples = read_samples(context, job_id, name, range, few + 1);
    if (std::ssize(samples) <= few) return keep(samples);
    const store::CurveExtent extent = store::measure_curve(store, job_id, name, range, share + 1);
    if (extent.points <= share) {
        const store::StepRange rest{.first = samples.back().step + 1, .last = range.last};
        std::ranges::move(read_samples(context, job_id, name, rest, share),
                          std::back_inserter(samples));
        return keep(samples);
    }
    curve.thinned = resolution == 0 || resolution > share;
    curve.stretches = true;
    for (const store::CurveStretch& stretch :
         store::list_stretches(store, job_id, name, extent, curve.thinned ? share : resolution))
        curve.points.push_back({.last = to_sample(stretch.last),
                                .min = stretch.min,
                                .max = stretch.max,
                                .count = stretch.count,
                                .nonfinite = stretch.nonfinite});
    return curve;
}

// One curve is in memory at a time: what is left of the others is text.
template <class Use>
void for_each_curve(const Context& context, const store::Job& job, const Use& use) {
    std::vector<std::string> names = query_words(context.request, "names");
    if (std::ssize(names) > names_max) {
        const std::string message =
            fmt::format("at most {} metrics, got {}; ask for the others in a second request",
                        names_max, names.size());
        throw_problems({{.pointer = "/names", .code = "too_many", .message = message}},
                       "invalid_query", "the query");
    }
    if (names.empty()) names = store::list_metric_names(context.services.store, job.id, names_max);
    const std::int64_t share =
        std::max<std::int64_t>(1, points_max / std::max<std::int64_t>(1, std::ssize(names)));
    for (const std::string& name : names)
        use(read_curve(context, job.id, name, share));
}

Json render_sample(const MetricSample& sample) {
    Json out{{"step", sample.step}, {"epoch", sample.epoch}, {"time", to_rfc3339(sample.time)}};
    put_value(out, sample.value);
    return out;
}

Json render_bucket(const MetricBucket& bucket) {
    Json out = render_sample(bucket.last);
    const bool any = bucket.count > bucket.nonfinite;
    out["min"] = any ? Json(bucket.min) : Json(nullptr);
    out["max"] = any ? Json(bucket.max) : Json(nullptr);
    out["count"] = bucket.count;
    if (bucket.nonfinite > 0) out["nonfinite_count"] = bucket.nonfinite;
    return out;
}

// As render_sample: with an object for each point, 10,000 of them take four times as long.
void append_sample(std::string& text, const MetricSample& sample) {
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
    for (const MetricBucket& point : curve.points) {
        if (&point != &curve.points.front()) text += ',';
        if (curve.stretches) text += to_text(render_bucket(point));
        if (!curve.stretches) append_sample(text, point.last);
    }
    text += curve.thinned ? R"(],"thinned":true})" : "]}";
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

Response get_job_metrics_csv(const Context& context) {
    const store::Job job = the_job(context);
    if (query_text(context.request, "form") == "table") return get_job_metrics_table(context, job);
    std::string text = "name,step,epoch,value,time\n";
    bool thinned = false;
    for_each_curve(context, job, [&](const Curve& curve) {
        thinned = thinned || curve.thinned;
        for (const MetricBucket& point : curve.points)
            text += fmt::format("{},{},{},{},{}\n", curve.name, point.last.step, point.last.epoch,
                                point.last.value, to_rfc3339(point.last.time));
    });
    Response response = text_response(std::move(text), "text/csv; charset=utf-8")
                            .with("Content-Disposition", attachment_disposition(job.name + ".csv"));
    if (!thinned) return response;
    return std::move(response).with("X-Thinned", "true");
}

}    // namespace slipway::routes

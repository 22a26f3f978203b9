#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "api/base/metric_value.h"
#include "scheduler/store/events.h"
#include "server/http/files.h"
#include "server/routes/downsample.h"
#include "server/routes/handlers.h"
#include "server/routes/lookup.h"
#include "server/routes/query.h"
#include "server/routes/render.h"

namespace slipway::routes {
namespace {

struct Curve {
    std::string name;
    std::vector<MetricSample> samples;
};

// One curve at a time: the store cuts a very long answer, and then only this curve is cut.
std::vector<Curve> read_curves(const Context& context, const store::Job& job) {
    const Request& request = context.request;
    std::vector<std::string> names = query_words(request, "names");
    if (names.empty()) names = store::list_metric_names(context.services.store, job.id);
    std::vector<Curve> curves;
    for (const std::string& name : names) {
        store::MetricQuery query{.names = {name},
                                 .step_min = query_number(request, "step_min", 0),
                                 .step_max = std::nullopt};
        if (request.query("step_max")) query.step_max = query_number(request, "step_max", 0);
        Curve curve{name, {}};
        for (const store::MetricPoint& point :
             store::list_metrics(context.services.store, job.id, query))
            curve.samples.push_back({point.step, point.epoch, point.value, point.time});
        curves.push_back(std::move(curve));
    }
    return curves;
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

}    // namespace

Response list_job_metrics(const Context& context) {
    const store::Job job = the_job(context);
    const auto resolution =
        static_cast<std::size_t>(query_number(context.request, "resolution", 0));
    Json series = Json::array();
    for (const Curve& curve : read_curves(context, job)) {
        Json points = Json::array();
        if (resolution == 0)
            for (const MetricSample& sample : curve.samples)
                points.push_back(render_sample(sample));
        else
            for (const MetricBucket& bucket : downsample(curve.samples, resolution))
                points.push_back(render_bucket(bucket));
        series.push_back({{"name", curve.name}, {"points", std::move(points)}});
    }
    return json_response({{"series", std::move(series)}});
}

Response get_job_metrics_csv(const Context& context) {
    const store::Job job = the_job(context);
    if (query_text(context.request, "form") == "table") return get_job_metrics_table(context, job);
    std::string text = "name,step,epoch,value,time\n";
    for (const Curve& curve : read_curves(context, job))
        for (const MetricSample& sample : curve.samples)
            text += fmt::format("{},{},{},{},{}\n", curve.name, sample.step, sample.epoch,
                                sample.value, to_rfc3339(sample.time));
    return text_response(std::move(text), "text/csv; charset=utf-8")
        .with("Content-Disposition", attachment_disposition(job.name + ".csv"));
}

}    // namespace slipway::routes

#include <fmt/format.h>

#include <algorithm>

#include "api/spec/task_spec.h"
#include "api/spec/train_spec.h"
#include "server/routes/handlers.h"
#include "server/routes/job_answer.h"
#include "server/routes/lookup.h"
#include "server/routes/problems.h"
#include "server/routes/query.h"

namespace slipway::routes {
namespace {

// A word of order_by without its minus.
struct AskedOrder {
    std::string word;
    bool descending = false;

    bool by_metric() const { return word == "best" || word == "last"; }
};

AskedOrder asked_order(const Request& request) {
    std::string word = query_text(request, "order_by");
    if (word.empty()) word = "-created_at";
    const bool descending = word.starts_with('-');
    return {word.substr(descending ? 1 : 0), descending};
}

store::JobOrder order_of(std::string_view word) {
    if (word == "name") return store::JobOrder::name;
    return word == "finished_at" ? store::JobOrder::finished_at : store::JobOrder::created_at;
}

// "train_accuracy" and "val_accuracy" are accuracy.
MetricMode usual_mode(std::string_view metric) {
    for (const std::string_view part : {"train_", "val_"})
        if (metric.starts_with(part)) metric.remove_prefix(part.size());
    const auto known = parse_word<TaskMetric>(metric);
    return known ? better(*known).value_or(MetricMode::min) : MetricMode::min;
}

store::MetricOrder metric_order(const Request& request, const AskedOrder& asked) {
    store::MetricOrder order{.metric = query_text(request, "metric"),
                             .descending = asked.descending};
    if (asked.word == "last") return order;
    const MetricMode mode =
        parse_word<MetricMode>(query_text(request, "mode")).value_or(usual_mode(order.metric));
    const bool higher = mode == MetricMode::max;
    order.value = higher ? store::MetricValue::highest : store::MetricValue::lowest;
    order.descending = asked.descending != higher;    // the best one first
    return order;
}

Problem query_problem(std::string_view name, std::string_view code, std::string message) {
    return {fmt::format("?{}", name), std::string(code), std::move(message), {}};
}

void check_order(const Request& request, const AskedOrder& asked, std::vector<Problem>& problems) {
    if (asked.by_metric() && !request.query("metric"))
        problems.push_back(query_problem(
            "metric", "missing_field",
            fmt::format("order_by={} needs metric, such as metric=val_loss", asked.word)));
    if (!asked.by_metric() && request.query("metric"))
        problems.push_back(query_problem("metric", "inconsistent",
                                         "metric is only valid with order_by=best or "
                                         "order_by=last; give one of them, or leave metric out"));
    if (asked.word != "best" && request.query("mode"))
        problems.push_back(query_problem(
            "mode", "inconsistent", "mode has a meaning only with order_by=best; leave it out"));
}

store::TimeRange asked_range(const Request& request, const std::string& what,
                             std::vector<Problem>& problems) {
    const store::TimeRange range{.from = query_time(request, what + "_after"),
                                 .until = query_time(request, what + "_before")};
    if (range.from && range.until && *range.from > *range.until)
        problems.push_back(
            query_problem(what + "_before", "inconsistent",
                          fmt::format("{0}_before must not be earlier than {0}_after", what)));
    return range;
}

}    // namespace

Response list_jobs(const Context& context) {
    const Request& request = context.request;
    const AskedOrder asked = asked_order(request);
    std::vector<Problem> problems;
    check_order(request, asked, problems);
    store::JobFilter filter;
    filter.states = query_enumerators<JobState>(request, "state");
    filter.projects = projects_asked(context);
    filter.name_contains = query_text(request, "name");
    filter.labels = query_pairs(request, "label");
    filter.dataset_id = query_text(request, "dataset");
    filter.parent_id = query_text(request, "parent");
    filter.kind = parse_word<JobKind>(query_text(request, "kind"));
    filter.created = asked_range(request, "created", problems);
    filter.finished = asked_range(request, "finished", problems);
    throw_problems(problems, "invalid_query", "the query");
    const store::PageRequest page = query_page(request);
    if (asked.by_metric())
        return job_list(store::list_jobs_by_metric(context.services.store, filter, page,
                                                   metric_order(request, asked)));
    return job_list(store::list_jobs(context.services.store, filter, page, order_of(asked.word),
                                     asked.descending));
}

}    // namespace slipway::routes

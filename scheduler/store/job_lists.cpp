// Lists of jobs: in the order of the table, by states and an order (queries/job_pages.sql), or by a
// metric. A list of jobs with a name first looks for them by an index: where they are few, the page
// is chosen from these; where they are many, a page finds enough of them in its order. A page
// begins after the place that its cursor names; a list that is narrowed to a time begins and ends
// there, by the times in the ids or by the key, so that it reads no other jobs.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <tuple>

#include "api/base/id.h"
#include "scheduler/store/job_rows.h"
#include "scheduler/store/jobs.h"
#include "scheduler/store/pg/pool.h"
#include "scheduler/store/queries.h"
#include "scheduler/store/text.h"

namespace slipway::store {

namespace {

/// A page of a list finds enough of more.
constexpr int named_jobs_max = 1000;
/// The index knows names by three characters each.
constexpr int indexed_characters_min = 3;

constexpr std::string_view order_names[] = {"created_at", "name", "finished_at"};

std::vector<std::string> words(const std::vector<JobState>& states) {
    std::vector<std::string> words;
    for (const JobState state : states)
        words.emplace_back(to_string(state));
    return words;
}

std::vector<std::string> every_state() {
    const auto& all = Spelling<JobState>::words;
    return {all.begin(), all.end()};
}

std::string bound_text(const std::optional<Instant>& bound) {
    return bound ? to_rfc3339(*bound) : "";
}

/// As PostgreSQL writes a range; empty: all times.
std::string range_text(const TimeRange& range) {
    if (!range.from && !range.until) return "";
    return fmt::format("[{},{})", bound_text(range.from), bound_text(range.until));
}

/// The list, its order and its filter in one text: what a cursor is good for.
std::string scope_of(const JobFilter& filter, std::string_view order, bool descending) {
    std::string scope = fmt::format("jobs {} {}", order, descending);
    for (const std::string& state : words(filter.states))
        scope += "\nstate " + state;
    for (const std::string& project : filter.projects)
        scope += "\nproject " + project;
    return scope + "\nname " + filter.name_contains + "\nlabels " + labels_to_json(filter.labels) +
           "\ndataset " + filter.dataset_id +
           (filter.kind ? fmt::format("\nkind {}", to_string(*filter.kind)) : "") + "\nparent " +
           filter.parent_id + "\n" + range_text(filter.created) + range_text(filter.finished);
}

std::vector<Param> filter_params(const JobFilter& filter) {
    return {Param::or_null(filter.projects),
            filter.name_contains.empty() ? Param(std::nullopt)
                                         : Param(contains_pattern(filter.name_contains)),
            filter.labels.empty() ? Param(std::nullopt) : Param(labels_to_json(filter.labels)),
            Param::or_null(filter.dataset_id),
            filter.kind ? Param(to_string(*filter.kind)) : Param(std::nullopt),
            Param::or_null(range_text(filter.created)),
            Param::or_null(range_text(filter.finished)),
            Param::or_null(filter.parent_id)};
}

/// The jobs with the name that is asked for; nothing: no name is, or there are too many.
std::optional<std::vector<std::string>> find_named(Store& store, const std::string& name) {
    const auto starts_character = [](char c) { return (c & 0xC0) != 0x80; };
    if (std::ranges::count_if(name, starts_character) < indexed_characters_min) return std::nullopt;
    const Rows rows = read_with_own_plan(
        store.pool(), {&queries::list_named_jobs, {contains_pattern(name), named_jobs_max + 1}});
    std::vector<std::string> ids;
    for (const Row row : rows)
        ids.push_back(row.text("id"));
    if (ids.size() > std::size_t(named_jobs_max)) return std::nullopt;
    return ids;
}

/// `list` narrowed to these jobs.
Rows read_list(Store& store, const Statement& list,
               const std::optional<std::vector<std::string>>& named) {
    return named ? read_with_own_plan(store.pool(), list) : read(store.pool(), list);
}

/// U+10FFFF, more often than a name has characters.
std::string make_last_name() {
    std::string name;
    for (int i = 0; i <= 200; ++i)
        name += "\xf4\x8f\xbf\xbf";
    return name;
}

const std::string last_name = make_last_name();

/// No id is above.
constexpr std::string_view last_id = "k";

/// An order, the statement that has it, and a place before all jobs.
struct JobList {
    JobOrder order;
    bool descending;
    const Query& query;
    std::string_view first_id;
    std::string_view first_key;
    /// The same without trials and folds, where it has indexes of its own.
    const Query* own_query = nullptr;
};

const std::array<JobList, 6> job_lists{
    {{JobOrder::created_at, true, queries::list_jobs_by_created_at_descending, last_id, "",
      &queries::list_own_jobs_by_created_at_descending},
     {JobOrder::created_at, false, queries::list_jobs_by_created_at, "", ""},
     {JobOrder::name, true, queries::list_jobs_by_name_descending, last_id, last_name},
     {JobOrder::name, false, queries::list_jobs_by_name, "", ""},
     {JobOrder::finished_at, true, queries::list_jobs_by_finished_at_descending, last_id,
      "infinity", &queries::list_own_jobs_by_finished_at_descending},
     {JobOrder::finished_at, false, queries::list_jobs_by_finished_at, "", "-infinity"}}};

/// Ids sort by the time at which the service made them, created_at is the database's: the clocks
/// may differ by this much.
constexpr std::chrono::minutes clocks_differ_max{10};

/// Ids between which all jobs are that were created in a range of time.
struct IdRange {
    std::string above;
    std::string below;
};

IdRange ids_of(const TimeRange& created) {
    IdRange ids{"", std::string(last_id)};
    if (created.from) ids.above = first_id_at("job", *created.from - clocks_differ_max);
    if (created.until) ids.below = first_id_at("job", *created.until + clocks_differ_max);
    return ids;
}

/// The key to begin after, as the statement of the order takes it.
std::string key_after(const JobList& list, const JobFilter& filter,
                      const std::optional<CursorPlace>& place) {
    const bool by_end = list.order == JobOrder::finished_at;
    if (place) {
        if (!by_end) return place->sort_key;
        return place->sort_key == "never" ? "infinity" : place->sort_key + "+00";
    }
    const auto& bound = list.descending ? filter.finished.until : filter.finished.from;
    return by_end && bound ? to_rfc3339(*bound) : std::string(list.first_key);
}

/// The newest jobs, in whatever state they are: in the order of the table itself. Those of a parent
/// by its index, which is why their states are looked at one by one.
Statement list_newest_statement(const JobFilter& filter, const std::optional<CursorPlace>& place,
                                int rows, const Param& named) {
    const IdRange ids = ids_of(filter.created);
    const bool of_parent = !filter.parent_id.empty();
    Statement list{of_parent ? &queries::list_jobs_of_parent : &queries::list_newest_jobs,
                   filter_params(filter)};
    list.params.emplace_back(place ? place->id : ids.below);
    list.params.emplace_back(rows);
    list.params.emplace_back(ids.above);
    list.params.emplace_back(page_bytes_max);
    list.params.push_back(named);
    if (of_parent) list.params.push_back(Param::or_null(words(filter.states)));
    return list;
}

std::vector<Param> state_and_filter_params(const JobFilter& filter) {
    std::vector<Param> params{filter.states.empty() ? every_state() : words(filter.states)};
    std::ranges::copy(filter_params(filter), std::back_inserter(params));
    return params;
}

Statement list_statement(const JobList& by, const JobFilter& filter,
                         const std::optional<CursorPlace>& place, int rows, const Param& named) {
    const bool own = filter.parent_id == no_parent && by.own_query != nullptr;
    Statement list{own ? by.own_query : &by.query, state_and_filter_params(filter)};
    if (by.order == JobOrder::created_at) {
        const IdRange ids = ids_of(filter.created);
        const auto& [first, end] =
            by.descending ? std::tie(ids.below, ids.above) : std::tie(ids.above, ids.below);
        list.params.emplace_back(place ? place->id : first);
        list.params.emplace_back(rows);
        const TimeRange& created = filter.created;
        if ((by.descending ? created.from : created.until).has_value()) {
            list.query = by.descending ? &queries::list_jobs_by_created_at_within_descending
                                       : &queries::list_jobs_by_created_at_within;
            list.params.emplace_back(end);
        }
    } else {
        list.params.emplace_back(place ? std::string_view(place->id) : by.first_id);
        list.params.emplace_back(rows);
        list.params.emplace_back(key_after(by, filter, place));
    }
    list.params.emplace_back(page_bytes_max);
    list.params.push_back(named);
    return list;
}

struct MetricList {
    MetricValue value;
    bool descending;
    const Query& query;
};

const std::array<MetricList, 6> metric_lists{
    {{MetricValue::last, false, queries::list_jobs_by_last},
     {MetricValue::last, true, queries::list_jobs_by_last_descending},
     {MetricValue::lowest, false, queries::list_jobs_by_lowest},
     {MetricValue::lowest, true, queries::list_jobs_by_lowest_descending},
     {MetricValue::highest, false, queries::list_jobs_by_highest},
     {MetricValue::highest, true, queries::list_jobs_by_highest_descending}}};

}    // namespace

Page<Job> list_jobs(Store& store, const JobFilter& filter, const PageRequest& page, JobOrder order,
                    bool descending) {
    const std::string scope = scope_of(filter, order_names[std::size_t(order)], descending);
    const std::optional<CursorPlace> place = read_cursor(scope, page.cursor);
    const int rows_asked = rows_to_ask(page);
    const auto named = find_named(store, filter.name_contains);
    if (named && named->empty()) return {};
    const auto by = std::ranges::find_if(job_lists, [&](const JobList& list) {
        return list.order == order && list.descending == descending;
    });
    const bool newest = order == JobOrder::created_at && descending &&
                        (filter.states.empty() || !filter.parent_id.empty()) &&
                        filter.parent_id != no_parent;
    const Statement list = newest ? list_newest_statement(filter, place, rows_asked, named)
                                  : list_statement(*by, filter, place, rows_asked, named);
    const Rows rows = read_list(store, list, named);
    return make_cut_page<Job>(rows, page, scope, read_job, [](const Row& row) {
        return CursorPlace{row.text("id"), row.text("sort_key")};
    });
}

Page<Job> list_jobs_by_metric(Store& store, const JobFilter& filter, const PageRequest& page,
                              const MetricOrder& order) {
    const auto by = std::ranges::find_if(metric_lists, [&](const MetricList& list) {
        return list.value == order.value && list.descending == order.descending;
    });
    const std::string scope =
        scope_of(filter, std::string(by->query.name) + " " + order.metric, order.descending);
    const std::optional<CursorPlace> place = read_cursor(scope, page.cursor);
    const auto named = find_named(store, filter.name_contains);
    if (named && named->empty()) return {};
    Statement list{&by->query, state_and_filter_params(filter)};
    const std::string_view first_id = order.descending ? last_id : "";
    const char* const first_value = order.descending ? "infinity" : "-infinity";
    list.params.emplace_back(place ? std::string_view(place->id) : first_id);
    list.params.emplace_back(rows_to_ask(page));
    list.params.emplace_back(place ? place->sort_key : first_value);
    list.params.emplace_back(page_bytes_max);
    list.params.emplace_back(order.metric);
    list.params.emplace_back(named);
    const Rows rows = read_list(store, list, named);
    return make_cut_page<Job>(
        rows, page, scope,
        [](const Row& row) {
            Job job = read_job(row);
            job.order_value = row.number("order_value");
            return job;
        },
        [](const Row& row) {
            return CursorPlace{row.text("id"), row.text("sort_key")};
        });
}

}    // namespace slipway::store

#include "scheduler/store/projects.h"

#include <fmt/core.h>

#include "api/base/check.h"
#include "scheduler/store/pg/pool.h"
#include "scheduler/store/project_steps.h"
#include "scheduler/store/queries.h"
#include "scheduler/store/text.h"

namespace slipway::store {

namespace {

Project read_project(const Row& row) {
    return {.name = row.text("name"),
            .weight = row.number("weight"),
            .cores_max = row.maybe_small("cores_max"),
            .class_max = row.text("class_max"),
            .created_by = row.text("created_by"),
            .created_at = row.time("created_at"),
            .usage_core_s = row.number("usage_core_s"),
            .cores_held = row.integer("cores_held"),
            .queued_jobs = row.integer("queued_jobs")};
}

std::optional<Project> changed(Store& store, std::string_view name, const Statement& change) {
    if (write(store.pool(), change).affected() == 0) return std::nullopt;
    store.announce(topics::queue);
    return find_project(store, name);
}

}    // namespace

Page<Project> list_projects(Store& store, const std::vector<std::string>& names,
                            const PageRequest& page) {
    std::string scope = "projects";
    for (const std::string& name : names)
        scope += "\n" + name;
    const Rows rows = read(store.pool(), queries::list_projects,
                           {Param::or_null(names), place_of(scope, page), rows_to_ask(page)});
    return make_page<Project>(rows, page, scope, read_project, [](const Row& row) {
        return CursorPlace{row.text("name"), ""};
    });
}

std::optional<Project> find_project(Store& store, std::string_view name) {
    const Rows rows = read(store.pool(), queries::list_projects,
                           {std::vector<std::string>{std::string(name)}, std::nullopt, 1});
    if (rows.empty()) return std::nullopt;
    return read_project(rows[0]);
}

Project create_project(Store& store, std::string_view name, double weight,
                       std::string_view created_by, std::int64_t projects_max) {
    transact(store.pool(), [&](Transaction& transaction) {
        if (!transaction.run(queries::find_executor_number, {name}).empty())
            throw Error{ErrorCode::conflict, fmt::format("there is a project {} already", name)};
        claim_project(transaction, name, created_by, projects_max);
        transaction.commit({{&queries::set_weight, {name, weight}}});
    });
    auto made = find_project(store, name);
    check(made.has_value(), "a project stays");
    return *std::move(made);
}

std::optional<ClassNotAllowed> find_class_refusal(Store& store, std::string_view project,
                                                  std::string_view queue_class) {
    const Rows rows = read(store.pool(), queries::find_refused_class, {project, queue_class});
    if (rows.empty()) return std::nullopt;
    return ClassNotAllowed(rows[0].text("message"), std::string(queue_class),
                           rows[0].text("class_max"));
}

void require_class(Store& store, std::string_view project, std::string_view queue_class) {
    if (const auto refusal = find_class_refusal(store, project, queue_class)) throw *refusal;
}

std::optional<Project> set_weight(Store& store, std::string_view name, double weight) {
    return changed(store, name, {&queries::set_weight, {name, weight}});
}

std::optional<Project> set_quota(Store& store, std::string_view name, std::optional<int> cores_max,
                                 std::string_view class_max) {
    return changed(store, name,
                   {&queries::set_quota, {name, cores_max, Param::or_null(class_max)}});
}

}    // namespace slipway::store

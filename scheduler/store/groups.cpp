#include "scheduler/store/groups.h"

#include "scheduler/store/pg/pool.h"
#include "scheduler/store/prune.h"
#include "scheduler/store/queries.h"
#include "scheduler/store/text.h"

namespace slipway::store {

namespace {

Group read_group(const Row& row) {
    return {.project = row.text("project"),
            .name = row.text("name"),
            .jobs_max = row.maybe_small("jobs_max"),
            .running = row.integer("running"),
            .ready = row.integer("ready")};
}

}    // namespace

Page<Group> list_groups(Store& store, std::string_view project, const PageRequest& page) {
    const std::string scope = "groups\n" + std::string(project);
    const Rows rows = read(store.pool(), queries::list_groups,
                           {project, std::nullopt, place_of(scope, page), rows_to_ask(page)});
    return make_page<Group>(rows, page, scope, read_group, [](const Row& row) {
        return CursorPlace{row.text("name"), ""};
    });
}

std::optional<Group> find_group(Store& store, std::string_view project, std::string_view name) {
    const Rows rows = read(store.pool(), queries::list_groups, {project, name, std::nullopt, 1});
    if (rows.empty()) return std::nullopt;
    return read_group(rows[0]);
}

void set_group_limit(Store& store, std::string_view project, std::string_view name, int jobs_max) {
    write(store.pool(), queries::set_group_limit, {project, name, jobs_max});
    store.announce(topics::queue);
}

std::int64_t prune_groups(Store& store, std::chrono::milliseconds keep, const LeaderTerm& term) {
    return write_as_leader(store.pool(), term, {{&queries::prune_groups, {keep, pruned_at_once}}})
        .at(0)
        .affected();
}

}    // namespace slipway::store

// Which core is at fault is a question of evidence. A job that crashes says nothing by itself: its
// program may be wrong. So a crash counts against a core only when the same work goes well
// elsewhere, and a sweep whose trials all crash drains nothing.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "api/base/json.h"
#include "scheduler/store/hosts.h"
#include "scheduler/store/pg/pool.h"
#include "scheduler/store/queries.h"

namespace slipway::store {

namespace {

FailingCore read_failing(const Row& row) {
    FailingCore found{.host = row.text("host"), .core = row.small("core")};
    found.drained = row.integer("usable") > 1;
    found.reason = fmt::format(
        "{} jobs in a row have crashed on it, while the same work goes well elsewhere: {}",
        row.integer("failures"), row.text("jobs"));
    if (!found.drained)
        found.reason += "; it still takes jobs, because it is the last core that does";
    return found;
}

Statement audit_statement(const FailingCore& found) {
    const Json detail{{"host", found.host},
                      {"core", found.core},
                      {"drained", found.drained},
                      {"reason", found.reason}};
    return {&queries::append_audit,
            {"", "core.drain", fmt::format("{}/{}", found.host, found.core), "", detail.dump()}};
}

}    // namespace

std::optional<FailingCore> drain_failing_core(Store& store, int failures_min,
                                              const LeaderTerm& term) {
    if (read_with_kept_plan(store.pool(), {&queries::list_failing_cores, {failures_min}}).empty())
        return std::nullopt;
    auto found =
        transact(store.pool(), [&](Transaction& transaction) -> std::optional<FailingCore> {
            const Rows rows = transaction.run(queries::list_failing_cores, {failures_min});
            if (rows.empty()) return std::nullopt;
            FailingCore one = read_failing(rows[0]);
            const Rows news =
                transaction.run(queries::put_core_drain, {one.host, one.core, one.reason});
            if (news.empty() && !one.drained) return std::nullopt;
            std::vector<Statement> statements{audit_statement(one)};
            if (one.drained)
                statements.push_back({&queries::drain_core, {one.host, one.core, true}});
            if (term.number > 0) statements.push_back(check_statement(term));
            transaction.commit(std::move(statements));
            return one;
        });
    if (found) store.announce(topics::queue);
    return found;
}

}    // namespace slipway::store

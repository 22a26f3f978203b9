#pragma once

#include <optional>
#include <string>

#include "scheduler/store/pg/pool.h"
#include "scheduler/store/store.h"

namespace slipway::store {

/// What was deleted in one statement and is cleared away in batches afterwards.
struct DeletedKind {
    const Query& claim;     ///< of the row that has waited longest, or of $1 to go on with it
    const Query& forget;    ///< of a row of which nothing is left
};

/// One batch of one deleted thing in one transaction. Moves `clearing` on, or back to empty when
/// nothing of it is left. False when there was nothing to do: none is left, or other processes are
/// at all of them.
///   id     the member of `clearing` that says which; empty: the one that has waited longest
///   clear  (Transaction&, Clearing&, int rows_max) -> how many rows went, at most rows_max
template <class Clearing, class Clear>
bool clear_deleted(Store& store, const DeletedKind& kind, Clearing& clearing,
                   std::string Clearing::*id, int rows_max, const Clear& clear) {
    const std::optional<Clearing> next =
        transact(store.pool(), [&](Transaction& transaction) -> std::optional<Clearing> {
            const Rows claimed = transaction.run(kind.claim, {Param::or_null(clearing.*id)});
            if (claimed.empty()) return std::nullopt;
            Clearing moved = clearing;
            moved.*id = claimed[0].text("id");
            if (clear(transaction, moved, rows_max) == rows_max) return moved;
            transaction.commit({{&kind.forget, {moved.*id}}});
            return Clearing{};
        });
    // What was begun may be another process's now: the next call looks for any.
    const bool went_on = next || !(clearing.*id).empty();
    clearing = next.value_or(Clearing{});
    return went_on;
}

}    // namespace slipway::store

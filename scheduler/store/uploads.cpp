#include "scheduler/store/upload_use.h"

#include <fmt/core.h>

#include "api/base/plural.h"
#include "scheduler/store/datasets.h"
#include "scheduler/store/pg/pool.h"
#include "scheduler/store/queries.h"

namespace slipway::store {

namespace {

Upload read_upload(const Row& row) {
    return {.id = row.text("id"),
            .filename = row.text("filename"),
            .size = row.integer("size"),
            .sha256 = row.text("sha256"),
            .received = row.integer("received"),
            .complete = row.flag("complete"),
            .created_by = row.text("created_by"),
            .created_at = row.time("created_at"),
            .expires_at = row.time("expires_at")};
}

void check_upload_capacity(const Row& open, const Upload& upload, const UploadLimits& limits) {
    const std::int64_t uploads = open.integer("uploads");
    if (limits.open_max > 0 && uploads >= limits.open_max) {
        throw Error{ErrorCode::exhausted,
                    fmt::format("this token has {}, and the maximum "
                                "is {} (--open-uploads-max); complete or delete some first",
                                counted(uploads, "incomplete upload"), limits.open_max)};
    }
    const std::int64_t announced = open.integer("bytes");
    if (limits.bytes > 0 && upload.size > limits.bytes - announced) {
        throw NoRoom(
            fmt::format("there is not enough disk space for {} bytes: {} are free, of which {} are "
                        "reserved for uploads that have not arrived",
                        upload.size, limits.bytes, announced));
    }
}

void require_stored_below(Transaction& transaction, const Upload& upload, std::int64_t max) {
    const std::int64_t stored =
        transaction.run(queries::count_stored_bytes, {std::nullopt, upload.created_by})[0].integer(
            "of_token");
    if (upload.size <= max - stored) return;
    throw Error{ErrorCode::exhausted,
                fmt::format("this token has {} bytes of uploads and of datasets made from uploads; "
                            "{} more would exceed {} (--stored-max-gib); delete some first",
                            stored, upload.size, max)};
}

}    // namespace

Upload create_upload(Store& store, const Upload& upload, std::chrono::seconds keep,
                     const UploadLimits& limits) {
    return transact(store.pool(), [&](Transaction& transaction) {
        transaction.run(queries::lock_uploads);
        check_upload_capacity(transaction.run(queries::count_open_uploads, {upload.created_by})[0],
                              upload, limits);
        if (limits.stored_max > 0) require_stored_below(transaction, upload, limits.stored_max);
        const Statement insert{
            &queries::insert_upload,
            {upload.id, upload.filename, upload.size, upload.sha256, upload.created_by,
             std::chrono::milliseconds(keep), Param::or_null(upload.host)}};
        return read_upload(transaction.commit({insert}).back()[0]);
    });
}

std::optional<Upload> find_upload(Store& store, std::string_view id) {
    const Rows rows = read(store.pool(), queries::find_upload, {id});
    if (rows.empty()) return std::nullopt;
    return read_upload(rows[0]);
}

std::vector<std::string> list_lost_uploads(Store& store, const std::vector<std::string>& ids) {
    std::vector<std::string> lost;
    for (const Row row : read(store.pool(), queries::list_lost_uploads, {ids}))
        lost.push_back(row.text("id"));
    return lost;
}

bool advance_upload(Store& store, std::string_view id, std::int64_t from, std::int64_t to) {
    return write(store.pool(), queries::advance_upload, {id, from, to}).affected() > 0;
}

bool complete_upload(Store& store, std::string_view id) {
    return write(store.pool(), queries::complete_upload, {id}).affected() > 0;
}

void require_unused_upload(Transaction& transaction, std::string_view id) {
    const Rows users = transaction.run(queries::find_upload_user, {id});
    if (users.empty()) return;
    throw Error{ErrorCode::conflict, fmt::format("the upload {} is used by {}, which has not ended",
                                                 id, users[0].text("used_by"))};
}

bool delete_upload(Store& store, std::string_view id) {
    return transact(store.pool(), [&](Transaction& transaction) {
        if (transaction.run(queries::lock_upload, {id}).empty()) return false;
        require_unused_upload(transaction, id);
        transaction.commit({{&queries::delete_upload, {id}}});
        return true;
    });
}

}    // namespace slipway::store

#include "scheduler/store/shared_store.h"

#include "scheduler/store/pg/pool.h"
#include "scheduler/store/queries.h"

namespace slipway::store {

std::optional<std::string> find_store_id(Store& store) {
    const Rows found = read(store.pool(), queries::find_store_id);
    if (found.empty()) return std::nullopt;
    return found[0].text("id");
}

std::string claim_store_id(Store& store, std::string_view offered) {
    write(store.pool(), queries::claim_store_id, {offered});
    return find_store_id(store).value();
}

void keep_store_mark(Store& store, const StoreMark& mark) {
    write(store.pool(), queries::keep_store_mark, {mark.host, mark.mark});
}

std::vector<StoreMark> list_store_marks(Store& store, std::string_view home,
                                        std::chrono::milliseconds silence_max) {
    std::vector<StoreMark> marks;
    for (const Row row : read(store.pool(), queries::list_store_marks, {home, silence_max}))
        marks.push_back({.host = row.text("host"), .mark = row.text("mark")});
    return marks;
}

}    // namespace slipway::store

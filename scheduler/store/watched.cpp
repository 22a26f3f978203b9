#include "scheduler/store/watched.h"

#include <fmt/core.h>

#include "scheduler/store/pg/pool.h"
#include "scheduler/store/queries.h"

namespace slipway::store {

std::string watched_project(std::string_view project) {
    return fmt::format("project {}", project);
}

void keep_watched(Store& store, const std::vector<std::string>& subjects) {
    write(store.pool(), queries::keep_watched,
          {subjects, std::chrono::duration<double>(watched_for).count()});
}

}    // namespace slipway::store

#include "api/spec/dataset_root.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "api/base/error.h"
#include "api/spec/table/kinds.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;

bool is_open_to(const DatasetRoot& root, std::string_view project) {
    return root.projects.empty() ||
           std::ranges::find(root.projects, project) != root.projects.end();
}

}    // namespace

DatasetRoot parse_dataset_root(std::string_view text) {
    const std::size_t equals = text.find('=');
    const std::string_view list = text.substr(0, equals);
    if (equals == std::string_view::npos || list.find('/') != std::string_view::npos)
        return {.path = fs::path(text)};
    DatasetRoot root{.path = fs::path(text.substr(equals + 1))};
    for (std::size_t begin = 0; begin <= list.size();) {
        const std::size_t end = std::min(list.find(',', begin), list.size());
        const std::string_view name = list.substr(begin, end - begin);
        if (!plain_name.holds(name))
            throw Error(
                ErrorCode::invalid_argument,
                fmt::format(
                    "`{}` in `{}` is not a project name ({}); use DIR or PROJECT,PROJECT=DIR", name,
                    text, plain_name.wanted));
        root.projects.emplace_back(name);
        begin = end + 1;
    }
    return root;
}

bool is_below(const fs::path& place, const fs::path& root) {
    const auto [end, rest] = std::mismatch(root.begin(), root.end(), place.begin(), place.end());
    return end == root.end() || (end->empty() && std::next(end) == root.end());
}

bool may_read(const fs::path& place, std::string_view project,
              const std::vector<DatasetRoot>& roots) {
    const DatasetRoot* innermost = nullptr;
    for (const DatasetRoot& root : roots) {
        if (!is_open_to(root, project) && is_below(root.path, place)) return false;
        if (!is_below(place, root.path)) continue;
        if (innermost == nullptr || is_below(root.path, innermost->path)) innermost = &root;
    }
    return innermost != nullptr && is_open_to(*innermost, project);
}

std::vector<DatasetRoot> roots_open_to(std::string_view project,
                                       const std::vector<DatasetRoot>& roots) {
    std::vector<DatasetRoot> open;
    std::ranges::copy_if(roots, std::back_inserter(open),
                         [&](const DatasetRoot& root) { return is_open_to(root, project); });
    return open;
}

}    // namespace slipway

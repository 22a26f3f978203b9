#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>

#include "executor/data/files.h"
#include "executor/data/formats/csv_reader.h"
#include "executor/data/formats/format.h"
#include "executor/data/formats/image_files.h"
#include "executor/data/formats/image_names.h"
#include "executor/data/formats/name_table.h"
#include "executor/data/formats/shards.h"
#include "executor/data/utf8.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

/// The folders of a relative name: "train/ants/x.jpg" has "train" and "ants".
std::vector<std::string> folders_of(const std::string& name) {
    std::vector<std::string> folders;
    for (const fs::path& folder : fs::path(name).parent_path())
        folders.push_back(folder.string());
    return folders;
}

/// Folders that should be classes and hold no image: their class would silently be missing.
void report_empty_classes(const fs::path& path, bool has_parts, const std::set<std::string>& seen,
                          ProblemLog& problems) {
    std::error_code error;    // what cannot be listed has been reported by Folder::list
    std::vector<fs::path> roots = {path};
    if (has_parts) {
        roots.clear();
        for (const auto& entry : fs::directory_iterator(path, error)) {
            if (is_usual_part(entry.path().filename().string())) roots.push_back(entry.path());
        }
    }
    for (const fs::path& root : roots) {
        for (const auto& entry : fs::directory_iterator(root, error)) {
            const std::string name = entry.path().lexically_relative(path).string();
            const bool hidden = entry.path().filename().string().starts_with('.');
            if (!entry.is_directory(error) || hidden || seen.contains(name)) continue;
            if (!is_utf8(name)) continue;    // its images have been named
            problems.add({.file = name, .message = "the class folder has no JPEG or PNG image"});
        }
    }
}

}    // namespace

std::unique_ptr<Dataset> open_image_folder(const fs::path& path, const DatasetOptions& options,
                                           ProblemLog& problems) {
    const std::vector<std::string> files = Folder(path).list();
    std::vector<std::string> images;
    for (const std::string& name : files) {
        if (!is_utf8(name)) {    // its class would have no name that can be said
            problems.add({.file = shown(name),
                          .message = "the name is not UTF-8; rename the file or its folder"});
            continue;
        }
        if (is_image_name(name)) images.push_back(name);
        if (const auto problem = unread_image(name)) problems.add(*problem);
    }
    const bool has_parts =
        !images.empty() && std::all_of(images.begin(), images.end(), [](auto& name) {
            const std::vector<std::string> folders = folders_of(name);
            return folders.size() >= 2 && is_usual_part(folders[0]);
        });

    ImageList list;
    NameTable classes(options.class_names), parts;
    std::set<std::string> seen;
    for (const std::string& name : images) {
        const std::vector<std::string> folders = folders_of(name);
        const std::size_t depth = has_parts ? 1 : 0;
        if (folders.size() <= depth) {
            problems.add(
                {.file = name, .message = "the image is in no class folder; move it to CLASS/"});
            continue;
        }
        const std::string& label = folders[depth];
        if (!options.class_names.empty() && !classes.contains(label)) {
            problems.add(
                {.file = name, .message = fmt::format("class {} is not among class_names", label)});
            continue;
        }
        seen.insert(has_parts ? folders[0] + "/" + label : label);
        list.names.push_back(name);
        list.index.labels.push_back(classes.number(label));
        if (has_parts) list.index.parts.push_back(parts.number(folders[0]));
    }
    report_empty_classes(path, has_parts, seen, problems);
    if (list.names.empty()) {
        problems.add({.message = "the folder has no JPEG or PNG image; expected CLASS/IMAGE or "
                                 "train/CLASS/IMAGE and val/CLASS/IMAGE"});
    }
    list.index.class_names =
        options.class_names.empty() ? classes.sort(list.index.labels) : options.class_names;
    list.index.part_names = parts.names();
    return open_image_files(path, std::move(list), options, problems);
}

}    // namespace slipway

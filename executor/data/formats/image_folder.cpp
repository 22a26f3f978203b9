#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "api/spec/dataset_format.h"
#include "executor/data/files.h"
#include "executor/data/formats/csv_reader.h"
#include "executor/data/formats/format.h"
#include "executor/data/formats/image_files.h"
#include "executor/data/formats/image_names.h"
#include "executor/data/formats/name_table.h"
#include "executor/data/formats/part_names.h"
#include "executor/data/utf8.h"

// The top folders are classes, or parts that hold class folders. Their names decide, not single
// images: one stray image once made classes of train and val. Folders with names of parts are
// classes only beside others and where none holds a class folder (valid and invalid). Folders that
// do not go together are a problem that names them.
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

/// "train, val"; of many the first ones.
std::string listed(std::span<const std::string> names) {
    constexpr std::size_t listed_max = 5;
    return fmt::format("{}{}", fmt::join(names.first(std::min(names.size(), listed_max)), ", "),
                       names.size() > listed_max ? ", …" : "");
}

/// What the top folders are.
struct Layout {
    bool has_parts = false;                     ///< else they are classes
    std::map<std::string, bool> top_folders;    ///< by name: whether it holds folders with images

    bool leaves_out(const std::string& folder) const {
        return has_parts && (!is_usual_part(folder) || !top_folders.at(folder));
    }
};

Layout find_layout(const std::vector<std::string>& images,
                   const std::vector<std::string>& class_names, ProblemLog& problems) {
    Layout layout;
    for (const std::string& name : images) {
        const std::vector<std::string> folders = folders_of(name);
        if (!folders.empty()) layout.top_folders[folders[0]] |= folders.size() > 1;
    }
    std::vector<std::string> parts, others;
    bool all_are_classes = layout.top_folders.size() > 1;    // as the options name them
    for (const auto& [name, is_deep] : layout.top_folders) {
        (is_usual_part(name) ? parts : others).push_back(name);
        layout.has_parts |= is_usual_part(name) && is_deep;
        all_are_classes &= std::ranges::find(class_names, name) != class_names.end();
    }
    if (all_are_classes) layout.has_parts = false;
    if (parts.empty() || all_are_classes) return layout;
    if (!others.empty() && !layout.has_parts) {
        problems.warn(
            {.message = fmt::format("the folders {} are classes like the others ({}), because none "
                                    "of them holds class folders; if they are parts, make "
                                    "PART/CLASS/IMAGE of them",
                                    listed(parts), listed(others))});
    } else if (!others.empty()) {
        problems.add(
            {.file = others[0],
             .message = fmt::format(
                 "parts ({}) are beside other folders ({}); rename or move the latter. If all of "
                 "them are classes, list them in class_names",
                 listed(parts), listed(others))});
    } else if (!layout.has_parts) {
        problems.add(
            {.file = parts[0],
             .message = fmt::format(
                 "the folders have names of parts ({}) and hold no class folders; expected "
                 "PART/CLASS/IMAGE. If they are classes, list them in class_names",
                 listed(parts))});
    }
    return layout;
}

/// Parts without labels, and parts where none are looked for.
void warn_of_parts(const Layout& layout, const std::vector<std::string>& images,
                   ProblemLog& problems) {
    std::map<std::string, std::int64_t> unlabelled;
    for (const std::string& name : images) {
        const std::vector<std::string> folders = folders_of(name);
        if (folders.empty()) continue;
        if (layout.has_parts && is_usual_part(folders[0]) && layout.leaves_out(folders[0]))
            ++unlabelled[folders[0]];
        if (layout.has_parts || folders.size() < 2 || !is_usual_part(folders[1])) continue;
        problems.warn({.file = folders[0] + "/" + folders[1],
                       .message = "the folder has the name of a part inside a class folder and is "
                                  "not read as a part; parts are PART/CLASS/IMAGE"});
        return;
    }
    for (const auto& [part, count] : unlabelled) {
        problems.warn({.file = part,
                       .message = fmt::format("{} images are not read, because they are in no "
                                              "class folder and so have no label; labelled ones "
                                              "are {}/CLASS/IMAGE",
                                              count, part)});
    }
}

/// Folders that should be classes and hold no image: their class would silently be missing.
void report_empty_classes(const fs::path& path, bool has_parts, const std::set<std::string>& seen,
                          ProblemLog& problems) {
    std::error_code error;    // what cannot be listed has been reported by Folder::list
    std::vector<fs::path> roots = {path};
    if (has_parts) {
        roots.clear();
        for (const auto& entry : fs::directory_iterator(path, error)) {
            if (is_usual_part(entry.path().filename().string()) && !entry.is_symlink(error))
                roots.push_back(entry.path());
        }
    }
    for (const fs::path& root : roots) {
        for (const auto& entry : fs::directory_iterator(root, error)) {
            const std::string name = entry.path().lexically_relative(path).string();
            const bool hidden = entry.path().filename().string().starts_with('.');
            if (!entry.is_directory(error) || entry.is_symlink(error) || hidden ||
                seen.contains(name))
                continue;
            if (!is_utf8(name)) continue;    // its images have been named
            problems.add({.file = name, .message = "the class folder has no JPEG or PNG image"});
        }
    }
}

}    // namespace

std::unique_ptr<Dataset> open_image_folder(const fs::path& path, const DatasetOptions& options,
                                           ProblemLog& problems) {
    std::vector<std::string> links;
    const std::vector<std::string> files = Folder(path).list(&links);
    for (const std::string& link : links)    // elsewhere the list of unread files names it
        if (folders_of(link).empty() && is_usual_part(link))
            problems.add({.file = link, .message = folder_link_message});
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
    const Layout layout = find_layout(images, options.class_names, problems);
    const bool has_parts = layout.has_parts;
    warn_of_parts(layout, images, problems);

    ImageList list;
    NameTable classes(options.class_names), parts;
    std::set<std::string> seen;
    for (const std::string& name : images) {
        const std::vector<std::string> folders = folders_of(name);
        const std::size_t depth = has_parts ? 1 : 0;
        if (!folders.empty() && layout.leaves_out(folders[0])) continue;
        if (folders.size() <= depth) {
            problems.add({.file = name,
                          .message = fmt::format("the image is in no class folder; move it to {}, "
                                                 "or remove it",
                                                 has_parts ? "PART/CLASS/" : "CLASS/")});
            continue;
        }
        const std::string& label = folders[depth];
        if (without_blanks(label).empty()) {
            problems.add({.file = name, .message = "the name of its class folder is blank"});
            continue;
        }
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

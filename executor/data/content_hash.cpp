#include "executor/data/content_hash.h"

#include <fmt/core.h>

#include <algorithm>

#include "api/base/sha256.h"
#include "executor/tensor/parallel.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

fs::path folder_of_files(const fs::path& path) {
    return fs::is_directory(path) ? path : path.parent_path();
}

std::int64_t size_of_file(const fs::path& file) {
    std::error_code problem;
    const std::uintmax_t size = fs::file_size(file, problem);
    if (problem) {
        throw Error{ErrorCode::not_found,
                    fmt::format("cannot read {}: {}", file.string(), problem.message())};
    }
    return std::int64_t(size);
}

}    // namespace

ContentHash hash_content(const fs::path& path, std::vector<std::string> files, int threads) {
    std::ranges::sort(files);    // by bytes, whatever the order that samples are read in
    const fs::path folder = folder_of_files(path);
    std::vector<std::string> hashes(files.size());
    parallel_for(std::int64_t(files.size()), threads, [&](std::int64_t i) {
        hashes[std::size_t(i)] = sha256_file(folder / files[std::size_t(i)]);
    });
    Sha256 all;
    ContentHash content;
    for (std::size_t i = 0; i < files.size(); ++i) {
        all.update(fmt::format("{}\n{}\n", files[i], hashes[i]));
        content.bytes += size_of_file(folder / files[i]);
    }
    content.hash = "sha256:" + all.finish();
    return content;
}

std::string hash_sample_list(const fs::path& path, const Dataset& dataset) {
    const fs::path folder = folder_of_files(path);
    Sha256 all;
    for (const std::string& file : dataset.files())
        all.update(fmt::format("{}\n{}\n", file, size_of_file(folder / file)));
    for (std::int64_t i = 0; i < dataset.size(); ++i) {
        const DataProblem place = dataset.place(i);
        all.update(fmt::format("{}\n{}\n", place.file, place.row));
    }
    return "sha256:" + all.finish();
}

}    // namespace slipway

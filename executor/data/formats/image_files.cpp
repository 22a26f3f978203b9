#include "executor/data/formats/image_files.h"

#include <algorithm>
#include <utility>

#include "executor/data/files.h"
#include "executor/data/formats/image_dataset.h"

namespace slipway {

namespace {

class ImageFiles final : public ImageSource {
public:
    ImageFiles(const std::filesystem::path& folder, std::vector<std::string> names,
               std::vector<std::string> other_files)
        : folder_(folder), names_(std::move(names)), other_files_(std::move(other_files)) {}

    std::vector<std::byte> read(std::int64_t sample) const override {
        return folder_.read(names_[std::size_t(sample)], image_file_bytes_max);
    }
    std::vector<std::byte> read_beginning(std::int64_t sample,
                                          std::int64_t bytes_max) const override {
        return folder_.read_beginning(names_[std::size_t(sample)], bytes_max);
    }
    DataProblem place(std::int64_t sample) const override {
        return {.file = names_[std::size_t(sample)]};
    }
    std::vector<std::string> files() const override {
        std::vector<std::string> files = names_;
        files.insert(files.end(), other_files_.begin(), other_files_.end());
        std::sort(files.begin(), files.end());
        files.erase(std::unique(files.begin(), files.end()), files.end());
        return files;
    }

private:
    Folder folder_;
    std::vector<std::string> names_;
    std::vector<std::string> other_files_;
};

}    // namespace

std::unique_ptr<Dataset> open_image_files(const std::filesystem::path& folder, ImageList list,
                                          const DatasetOptions& options,
                                          const ProblemLog& problems) {
    auto files =
        std::make_unique<ImageFiles>(folder, std::move(list.names), std::move(list.other_files));
    return std::make_unique<ImageDataset>(std::move(list.index), std::move(files), options,
                                          problems);
}

}    // namespace slipway

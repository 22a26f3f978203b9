#include "executor/train/data_version.h"

#include <fmt/format.h>

#include "api/spec/data_version.h"
#include "executor/data/formats/text.h"
#include "executor/data/problem.h"
#include "executor/data/shared/known_content.h"
#include "executor/train/train_error.h"

namespace slipway {

std::string require_content(const AttemptPlan& plan, const TrainData& data, Instant opened_since) {
    const std::string& checked = plan.dataset_content_hash;
    const std::string& version = plan.spec.data.version;
    if (checked.empty() && version.empty() && !plan.member) return {};
    const std::vector<std::string> files =
        data.text ? text_and_tokenizer_files(plan.dataset_path) : data.raw->files();
    std::string found = find_content_hash(plan.dataset_path, files, sharing_of(plan).threads,
                                          {.folder = plan.sharing.folder}, opened_since);
    if (!checked.empty() && found != checked)
        throw TrainError("data_changed",
                         fmt::format("the files at {} are not those that were checked: their "
                                     "content hash is {}, and that of the dataset is {}. Restore "
                                     "them, or create the dataset again, which checks them",
                                     plan.dataset_path.string(), found, checked));
    if (!version.empty() && !is_of_version(found, version))
        throw DataError(
            {.file = plan.dataset_path.filename().string(),
             .message = fmt::format("the files have the content hash {}, but data.version "
                                    "is {}: they are other files, or have changed",
                                    found, version)});
    return found;
}

}    // namespace slipway

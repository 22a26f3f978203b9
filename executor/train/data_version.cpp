#include "executor/train/data_version.h"

#include <fmt/format.h>

#include "api/spec/data_version.h"
#include "executor/data/content_hash.h"
#include "executor/data/formats/text.h"
#include "executor/data/problem.h"

namespace slipway {

void require_version(const AttemptPlan& plan, const TrainData& data) {
    const std::string& version = plan.spec.data.version;
    if (version.empty()) return;
    const std::vector<std::string> files =
        data.text ? text_and_tokenizer_files(plan.dataset_path) : data.raw->files();
    const std::string found = hash_content(plan.dataset_path, files, plan.worker_threads).hash;
    if (is_of_version(found, version)) return;
    throw DataError({.file = plan.dataset_path.filename().string(),
                     .message = fmt::format("the files have the content hash {}, but data.version "
                                            "is {}: they are other files, or have changed",
                                            found, version)});
}

}    // namespace slipway

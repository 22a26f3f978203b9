#pragma once

#include <cstdint>
#include <string>

#include "executor/train/train_data.h"

namespace slipway {

/// What a row says of its sample, from the data alone: `sample`, its number in the dataset from 0;
/// `file`, of images in files; `part`, of a text of several; and what it is labelled with: `label`,
/// the name of its class, or label_NAME for each label that is a number.
class SampleColumns {
public:
    /// `data` must outlive it.
    SampleColumns(const JobSpec& spec, const TrainData& data);

    /// "sample,file,label": without an end of line.
    std::string header() const;
    void append(std::string& csv, std::int64_t sample) const;

private:
    const TrainData& data_;
    bool files_ = false, parts_ = false, numbers_ = false;
};

}    // namespace slipway

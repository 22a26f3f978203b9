#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "executor/data/dataset.h"
#include "executor/tensor/shape.h"

namespace slipway {

/// What one sample is to a program, without the batch dimension: f32 or i32.
struct SampleShape {
    Shape features;
    Shape labels;
};

/// One use of a sample. The epoch tells its uses apart, for what is drawn anew each time.
struct SampleUse {
    std::int64_t sample = 0;
    std::int64_t epoch = 0;    ///< 0-based
};

/// Where one sample goes: its rows of a batch, zeros when given. See floats_of, integers_of.
struct SampleRow {
    std::span<std::byte> features;
    std::span<std::byte> labels;
};

std::span<float> floats_of(std::span<std::byte> row);
std::span<std::int32_t> integers_of(std::span<std::byte> row);

/// A dataset's samples as a job reads them: the features with all that is done to them, and the
/// labels of its task. Safe from every thread.
class Samples {
public:
    virtual ~Samples() = default;
    Samples(const Samples&) = delete;
    Samples& operator=(const Samples&) = delete;

    const SampleShape& shape() const { return shape_; }

    /// The same use gives the same numbers, whatever the thread and the number of cores.
    /// errors  DataError as Dataset::read
    virtual void read(const SampleUse& use, const SampleRow& row) const = 0;

    /// The labels alone, for whoever has the features from elsewhere.
    virtual void read_labels(const SampleUse& use, std::span<std::byte> labels) const;

    /// How many labels of a sample its loss counts: 1 for a class, one for each token of a text.
    virtual std::int64_t label_count(std::int64_t) const { return 1; }

protected:
    explicit Samples(SampleShape shape) : shape_(std::move(shape)) {}

private:
    SampleShape shape_;
};

/// A class for each sample: features f32 of the dataset's shape, labels i32 without dimensions.
SampleShape class_sample_shape(Dims feature_dims);
/// `dataset` must outlive the result.
std::unique_ptr<Samples> class_samples(const Dataset& dataset);

/// Numbers for each sample: features as above, labels f32 [count], each of which the loss counts.
SampleShape number_sample_shape(Dims feature_dims, std::int64_t count);
/// `dataset` has labels that are numbers (DatasetIndex::targets) and must outlive the result.
std::unique_ptr<Samples> number_samples(const Dataset& dataset);

/// `classes`, of class_samples, with the class i called numbers[i].
std::unique_ptr<Samples> renumbered_classes(std::unique_ptr<Samples> classes,
                                            std::vector<std::int32_t> numbers);

/// `classes`, of class_samples, with a share for each of so many classes instead: labels f32
/// [count], 1 at the sample's class and 0 elsewhere.
std::unique_ptr<Samples> class_shares(std::unique_ptr<Samples> classes, std::int64_t count);

}    // namespace slipway

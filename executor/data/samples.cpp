#include "executor/data/samples.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace slipway {

namespace {

/// Rows lie in arrays of this type, aligned for it.
template <class Number>
std::span<Number> numbers_of(std::span<std::byte> row) {
    return {reinterpret_cast<Number*>(row.data()), row.size() / sizeof(Number)};
}

class ClassSamples final : public Samples {
public:
    explicit ClassSamples(const Dataset& dataset)
        : Samples(class_sample_shape(dataset.index().feature_dims)), dataset_(dataset) {}

    void read(const SampleUse& use, const SampleRow& row) const override {
        dataset_.read(use.sample, floats_of(row.features));
        read_labels(use, row.labels);
    }
    void read_labels(const SampleUse& use, std::span<std::byte> labels) const override {
        integers_of(labels)[0] = dataset_.label(use.sample);
    }

private:
    const Dataset& dataset_;
};

class NumberSamples final : public Samples {
public:
    explicit NumberSamples(const Dataset& dataset)
        : Samples(
              number_sample_shape(dataset.index().feature_dims, dataset.index().target_count())),
          dataset_(dataset) {}

    void read(const SampleUse& use, const SampleRow& row) const override {
        dataset_.read(use.sample, floats_of(row.features));
        read_labels(use, row.labels);
    }
    void read_labels(const SampleUse& use, std::span<std::byte> labels) const override {
        std::ranges::copy(dataset_.targets(use.sample), floats_of(labels).begin());
    }
    std::int64_t label_count(std::int64_t) const override {
        return dataset_.index().target_count();
    }

private:
    const Dataset& dataset_;
};

class ClassShares final : public Samples {
public:
    ClassShares(std::unique_ptr<Samples> classes, std::int64_t count)
        : Samples({.features = classes->shape().features, .labels = {DType::f32, {count}}}),
          classes_(std::move(classes)) {}

    void read(const SampleUse& use, const SampleRow& row) const override {
        std::int32_t label = 0;
        classes_->read(use, {row.features, std::as_writable_bytes(std::span(&label, 1))});
        fill(label, row.labels);
    }
    void read_labels(const SampleUse& use, std::span<std::byte> labels) const override {
        std::int32_t label = 0;
        classes_->read_labels(use, std::as_writable_bytes(std::span(&label, 1)));
        fill(label, labels);
    }
    std::int64_t label_count(std::int64_t sample) const override {
        return classes_->label_count(sample);
    }

private:
    static void fill(std::int32_t label, std::span<std::byte> labels) {
        const std::span<float> shares = floats_of(labels);
        std::ranges::fill(shares, 0.0F);
        shares[std::size_t(label)] = 1;
    }

    const std::unique_ptr<Samples> classes_;
};

class RenumberedClasses final : public Samples {
public:
    RenumberedClasses(std::unique_ptr<Samples> classes, std::vector<std::int32_t> numbers)
        : Samples(classes->shape()), classes_(std::move(classes)), numbers_(std::move(numbers)) {}

    void read(const SampleUse& use, const SampleRow& row) const override {
        classes_->read(use, row);
        renumber(row.labels);
    }
    void read_labels(const SampleUse& use, std::span<std::byte> labels) const override {
        classes_->read_labels(use, labels);
        renumber(labels);
    }
    std::int64_t label_count(std::int64_t sample) const override {
        return classes_->label_count(sample);
    }

private:
    void renumber(std::span<std::byte> labels) const {
        std::int32_t& label = integers_of(labels)[0];
        label = numbers_[std::size_t(label)];
    }

    const std::unique_ptr<Samples> classes_;
    const std::vector<std::int32_t> numbers_;
};

}    // namespace

void Samples::read_labels(const SampleUse& use, std::span<std::byte> labels) const {
    std::vector<std::byte> features(std::size_t(shape_.features.byte_count()));
    read(use, {.features = features, .labels = labels});
}

std::span<float> floats_of(std::span<std::byte> row) {
    return numbers_of<float>(row);
}

std::span<std::int32_t> integers_of(std::span<std::byte> row) {
    return numbers_of<std::int32_t>(row);
}

SampleShape class_sample_shape(Dims feature_dims) {
    return {.features = {DType::f32, std::move(feature_dims)}, .labels = {DType::i32, {}}};
}

SampleShape number_sample_shape(Dims feature_dims, std::int64_t count) {
    return {.features = {DType::f32, std::move(feature_dims)}, .labels = {DType::f32, {count}}};
}

std::unique_ptr<Samples> number_samples(const Dataset& dataset) {
    return std::make_unique<NumberSamples>(dataset);
}

std::unique_ptr<Samples> class_samples(const Dataset& dataset) {
    return std::make_unique<ClassSamples>(dataset);
}

std::unique_ptr<Samples> renumbered_classes(std::unique_ptr<Samples> classes,
                                            std::vector<std::int32_t> numbers) {
    return std::make_unique<RenumberedClasses>(std::move(classes), std::move(numbers));
}

std::unique_ptr<Samples> class_shares(std::unique_ptr<Samples> classes, std::int64_t count) {
    return std::make_unique<ClassShares>(std::move(classes), count);
}

}    // namespace slipway

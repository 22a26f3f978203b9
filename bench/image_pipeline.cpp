#include <fmt/core.h>
#include <time.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "executor/data/augment/augmented_samples.h"

/// How many images a second one thread reads, decodes and augments, nothing kept in memory. CPU
/// time: waiting for a busy machine does not count.
/// usage: bench_image_pipeline FOLDER ROUNDS   FOLDER: PART/CLASS/*.jpg
/// A line for each pipeline: its name, images per second. image_pipeline has the same ones.
namespace slipway {
namespace {

double cpu_seconds() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

AugmentSpec sized(AugmentName name, std::int64_t size) {
    AugmentSpec step;
    step.name = name;
    step.size = {size};
    step.scale = {0.08, 1};
    step.ratio = {3.0 / 4, 4.0 / 3};
    return step;
}

AugmentSpec flip() {
    AugmentSpec step;
    step.name = AugmentName::horizontal_flip;
    return step;
}

AugmentSpec jitter() {
    AugmentSpec step;
    step.name = AugmentName::color_jitter;
    step.brightness = step.contrast = step.saturation = 0.4;
    step.hue = 0.1;
    return step;
}

struct Pipeline {
    std::string name;
    std::vector<AugmentSpec> steps;
};

std::vector<Pipeline> pipelines() {
    using enum AugmentName;
    return {
        {"decode_to_224", {sized(center_crop, 224)}},
        {"resized_crop", {sized(random_resized_crop, 224), flip()}},
        {"resize_then_crop", {sized(resize, 256), sized(random_resized_crop, 224), flip()}},
        {"small", {sized(resize, 72), sized(random_resized_crop, 64), flip()}},
        {"jitter", {sized(random_resized_crop, 224), flip(), jitter()}},
    };
}

void tell_rate(const Pipeline& pipeline, const Dataset& photos, int rounds) {
    const auto samples = augmented_samples(photos, class_samples(photos),
                                           {.steps = pipeline.steps, .cache_bytes_max = 0});
    std::vector<std::byte> features(std::size_t(samples->shape().features.byte_count()));
    std::vector<std::byte> labels(std::size_t(samples->shape().labels.byte_count()));
    const double begin = cpu_seconds();
    for (std::int64_t epoch = 0; epoch < rounds; ++epoch) {
        for (std::int64_t sample = 0; sample < photos.size(); ++sample)
            samples->read({sample, epoch}, {features, labels});
    }
    fmt::print("{} {:.1f}\n", pipeline.name,
               double(photos.size() * rounds) / (cpu_seconds() - begin));
}

}    // namespace
}    // namespace slipway

int main(int count, char** arguments) {
    if (count != 3 || std::atoi(arguments[2]) < 1) {
        fmt::print(stderr, "usage: bench_image_pipeline FOLDER ROUNDS\n");
        return 2;
    }
    const auto photos = slipway::open_dataset("image_folder", arguments[1], {.cache_bytes_max = 0});
    for (const slipway::Pipeline& pipeline : slipway::pipelines())
        slipway::tell_rate(pipeline, *photos, std::atoi(arguments[2]));
}

#include <fmt/core.h>
#include <time.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "executor/data/augment/augmented_samples.h"
#include "executor/data/packed/packed_images.h"

/// How many images a second one thread reads, decodes and augments, nothing kept in memory. CPU
/// time: waiting for a busy machine does not count.
/// usage: bench_image_pipeline FOLDER ROUNDS [PACKS]   FOLDER: PART/CLASS/*.jpg
/// A line for each pipeline: its name, images per second. image_pipeline has the same ones.
/// With PACKS, a folder that gets packs: of each also with data.packed, the ratio of both, and the
/// bytes of pixels in the pack.
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

/// `done`: of the pipeline's steps, by `photos`.
double rate_of(const Pipeline& pipeline, const Dataset& photos, std::size_t done, int rounds) {
    const auto samples =
        augmented_samples(photos, class_samples(photos),
                          {.steps = pipeline.steps, .cache_bytes_max = 0, .done = done});
    std::vector<std::byte> features(std::size_t(samples->shape().features.byte_count()));
    std::vector<std::byte> labels(std::size_t(samples->shape().labels.byte_count()));
    const double begin = cpu_seconds();
    for (std::int64_t epoch = 0; epoch < rounds; ++epoch) {
        for (std::int64_t sample = 0; sample < photos.size(); ++sample)
            samples->read({sample, epoch}, {features, labels});
    }
    return double(photos.size() * rounds) / (cpu_seconds() - begin);
}

void tell_rates(const Pipeline& pipeline, const Dataset& photos, int rounds,
                const std::string& folder, const std::string& packs) {
    const double plain = rate_of(pipeline, photos, 0, rounds);
    fmt::print("{} {:.1f}\n", pipeline.name, plain);
    if (packs.empty()) return;
    const std::size_t done = lasting_step_count(pipeline.steps);
    const double begin = cpu_seconds();
    const PackedImages packed = pack_images(
        photos, {.folder = packs,
                 .data_path = folder,
                 .steps = {pipeline.steps.begin(), pipeline.steps.begin() + std::ptrdiff_t(done)},
                 .side_hint = decoding_hint(pipeline.steps)});
    const double making = cpu_seconds() - begin;
    if (!packed.dataset) {
        fmt::print("{} packed: {}\n", pipeline.name, packed.why_not);
        return;
    }
    const double rate = rate_of(pipeline, *packed.dataset, done, rounds);
    fmt::print("{} packed {:.1f} ratio {:.2f} bytes {} made in {:.2f} s\n", pipeline.name, rate,
               rate / plain, packed.bytes, packed.made ? making : 0);
}

}    // namespace
}    // namespace slipway

int main(int count, char** arguments) {
    if (count < 3 || count > 4 || std::atoi(arguments[2]) < 1) {
        fmt::print(stderr, "usage: bench_image_pipeline FOLDER ROUNDS [PACKS]\n");
        return 2;
    }
    const auto photos = slipway::open_dataset("image_folder", arguments[1], {.cache_bytes_max = 0});
    for (const slipway::Pipeline& pipeline : slipway::pipelines())
        slipway::tell_rates(pipeline, *photos, std::atoi(arguments[2]), arguments[1],
                            count > 3 ? arguments[3] : "");
}

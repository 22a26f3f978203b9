#include <array>

#include "tests/fuzz/target.h"

namespace slipway {

namespace {

constexpr auto targets = std::to_array<FuzzTarget>({
    {"idx", run_idx},
    {"csv", run_csv},
    {"image_csv", run_image_csv},
    {"image", run_image},
    {"cifar10", run_cifar10},
    {"tfrecord", run_tfrecord},
    {"example", run_example},
    {"webdataset", run_webdataset},
    {"text", run_text},
    {"unpack", run_unpack},
    {"safetensors", run_safetensors},
    {"job_spec", run_job_spec},
});

}    // namespace

std::span<const FuzzTarget> fuzz_targets() {
    return targets;
}

}    // namespace slipway

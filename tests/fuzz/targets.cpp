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
    {"npz", run_npz},
    {"text", run_text},
    {"wordpiece", run_wordpiece},
    {"bpe", run_bpe},
    {"bpe_merges", run_bpe_merges},
    {"unigram", run_unigram},
    {"kept_tokenizer", run_kept_tokenizer},
    {"unpack", run_unpack},
    {"safetensors", run_safetensors},
    {"exported_program", run_exported_program},
    {"checkpoint", run_checkpoint},
    {"manifest", run_manifest},
    {"pack", run_pack},
    {"job_spec", run_job_spec},
    {"dataset", run_dataset},
    {"http_head", run_http_head},
    {"chunked", run_chunked},
    {"cookie", run_cookie},
    {"cursor", run_cursor},
    {"frame", run_frame},
    {"agent_message", run_agent_message},
});

}    // namespace

std::span<const FuzzTarget> fuzz_targets() {
    return targets;
}

}    // namespace slipway

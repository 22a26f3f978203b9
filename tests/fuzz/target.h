#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace slipway {

/// One reader of files from outside. `run` reads `input` as such a file and says what came of it:
/// how much there is in it, or the messages of what is wrong. Whatever the bytes, it returns; an
/// exception, a broken invariant or a sanitizer's report is a bug of the reader.
struct FuzzTarget {
    std::string_view name;
    std::string (*run)(std::span<const std::byte> input);
};

/// All of them, in the order of the table in docs/contributing/fuzzing.md.
std::span<const FuzzTarget> fuzz_targets();

std::string run_idx(std::span<const std::byte> input);          ///< two parts: images, labels
std::string run_csv(std::span<const std::byte> input);          ///< the table
std::string run_image_csv(std::span<const std::byte> input);    ///< the table, beside good images
std::string run_image(std::span<const std::byte> input);        ///< a JPEG or PNG file
std::string run_cifar10(std::span<const std::byte> input);      ///< two parts: class names, a batch
std::string run_tfrecord(std::span<const std::byte> input);     ///< the file with its checksums
std::string run_example(std::span<const std::byte> input);      ///< a record; checksums are added
std::string run_webdataset(std::span<const std::byte> input);    ///< a tar, gzipped or not
std::string run_npz(std::span<const std::byte> input);           ///< the archive
std::string run_text(std::span<const std::byte> input);
std::string run_wordpiece(std::span<const std::byte> input);     ///< vocab.txt
std::string run_bpe(std::span<const std::byte> input);           ///< tokenizer.json
std::string run_bpe_merges(std::span<const std::byte> input);    ///< two parts: vocab.json, merges
std::string run_unigram(std::span<const std::byte> input);       ///< a model of sentencepiece
/// Two parts: a checkpoint's tokenizer_spec.json, characters.json.
std::string run_kept_tokenizer(std::span<const std::byte> input);
std::string run_unpack(std::span<const std::byte> input);    ///< an uploaded zip or tar
std::string run_exported_program(std::span<const std::byte> input);
std::string run_safetensors(std::span<const std::byte> input);
/// What a checkpoint's state.json says; its checksum is put right.
std::string run_checkpoint(std::span<const std::byte> input);
std::string run_manifest(std::span<const std::byte> input);    ///< of a stored split
std::string run_pack(std::span<const std::byte> input);    ///< of images; its checksum is put right
std::string run_job_spec(std::span<const std::byte> input);     ///< the body of POST /v1/jobs
std::string run_dataset(std::span<const std::byte> input);      ///< the body of POST /v1/datasets
std::string run_http_head(std::span<const std::byte> input);    ///< request line and headers
std::string run_chunked(std::span<const std::byte> input);      ///< a body in chunks
std::string run_cookie(std::span<const std::byte> input);       ///< two parts: two Cookie headers
std::string run_frame(std::span<const std::byte> input);        ///< a line of frames.ndjson
std::string run_agent_message(std::span<const std::byte> input);    ///< a line of executor.sock
std::string run_cursor(std::span<const std::byte> input);           ///< `cursor` of a list's query

}    // namespace slipway

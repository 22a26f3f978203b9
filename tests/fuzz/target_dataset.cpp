#include <nlohmann/json.hpp>

#include "api/base/check.h"
#include "api/base/parsed_json.h"
#include "api/spec/documents.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"

namespace slipway {

std::string run_dataset(std::span<const std::byte> input) {
    const Result<ParsedJson> parsed = parse_json(text_of(input));
    if (!parsed) return parsed.error().what();
    const Decoded<DatasetCreate> dataset = decode_dataset_create(*parsed);
    if (!dataset.ok()) {
        const std::string text = joined_messages(dataset.problems);
        check(!text.empty(), "a problem has a message");
        Json(text).dump();    // refuses what is not UTF-8
        return text;
    }
    const Json normal = encode(dataset.value);
    const Decoded<DatasetCreate> again = decode_dataset_create({.value = normal, .duplicates = {}});
    check(again.ok(), "the normalised form of a dataset is one");
    check(encode(again.value) == normal, "normalising twice changes nothing");
    encode_dataset_options(dataset.value).dump();
    return "a dataset";
}

}    // namespace slipway

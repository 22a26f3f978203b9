#include "executor/text/tokenizer_folder.h"

#include <fmt/core.h>

#include "executor/checkpoint/durable_file.h"
#include "executor/text/kinds.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

constexpr const char* folder_name = "tokenizer";
constexpr const char* spec_name = "spec.json";

void write_durably(const fs::path& path, const std::string& bytes) {
    DurableFile file(path);
    file.write(std::as_bytes(std::span(bytes)));
    file.finish();
}

}    // namespace

void save_tokenizer(const fs::path& folder, const TokenizerOptions& options,
                    const Tokenizer& tokenizer) {
    const TokenizerFile file = tokenizer.file();
    const TokenizerSpec spec{.type = options.type,
                             .file = file.name,
                             .vocab_size = {},
                             .lower_case = options.lower_case};
    const fs::path place = folder / folder_name, aside = folder / "tokenizer.tmp";
    std::error_code error;
    fs::remove_all(aside, error);
    fs::create_directories(aside, error);
    if (!file.name.empty()) write_durably(aside / file.name, file.bytes);
    write_durably(aside / spec_name, write_tokenizer_spec(spec));
    sync_folder(aside);
    fs::remove_all(place, error);
    fs::rename(aside, place, error);
    if (error) {
        throw Error{ErrorCode::unavailable,
                    fmt::format("{} cannot be written: {}", place.string(), error.message())};
    }
    sync_folder(folder);
}

std::unique_ptr<Tokenizer> load_tokenizer(const fs::path& folder) {
    const Folder place(folder / folder_name);
    const TokenizerSpec spec = read_tokenizer_spec(place, spec_name);
    return make_tokenizer(tokenizer_options(spec), place, {});
}

}    // namespace slipway

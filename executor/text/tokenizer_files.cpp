#include "executor/text/tokenizer_files.h"

#include <utility>

#include "executor/text/kinds.h"

namespace slipway {

namespace {

constexpr const char* spec_name = "tokenizer_spec.json";

}    // namespace

std::vector<CheckpointFile> tokenizer_files(const TokenizerOptions& options,
                                            const Tokenizer& tokenizer) {
    TokenizerFile file = tokenizer.file();
    const TokenizerSpec spec{.type = options.type,
                             .file = file.name,
                             .vocab_size = {},
                             .lower_case = options.lower_case};
    std::vector<CheckpointFile> files{{spec_name, write_tokenizer_spec(spec)}};
    if (!file.name.empty()) files.push_back({std::move(file.name), std::move(file.bytes)});
    return files;
}

std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& checkpoint) {
    const Folder folder(checkpoint);
    const TokenizerSpec spec = read_tokenizer_spec(folder, spec_name);
    return make_tokenizer(tokenizer_options(spec), folder, {});
}

}    // namespace slipway

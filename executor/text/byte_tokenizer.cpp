#include "executor/text/kinds.h"
#include "executor/text/special_names.h"

namespace slipway {

namespace {

constexpr std::int32_t padding_token = 256, mask_token = 257;

class ByteTokenizer final : public Tokenizer {
public:
    ByteTokenizer() {
        special_ = known_special_tokens({{"[PAD]", padding_token}, {"[MASK]", mask_token}});
    }

    std::int64_t vocabulary_size() const override { return 258; }

    void encode(std::string_view text, std::vector<std::int32_t>& tokens) const override {
        tokens.reserve(tokens.size() + text.size());
        for (const char byte : text)
            tokens.push_back(static_cast<unsigned char>(byte));
    }

    std::string decode(std::span<const std::int32_t> tokens) const override {
        std::string text;
        for (const std::int32_t token : tokens) {
            check_token(token, vocabulary_size());
            if (token < padding_token) {
                text += char(token);
            } else {
                text += token == padding_token ? "[PAD]" : "[MASK]";
            }
        }
        return text;
    }

    TokenizerFile file() const override { return {}; }
};

}    // namespace

std::unique_ptr<Tokenizer> make_byte_tokenizer(const TokenizerOptions&, const Folder&,
                                               TrainingTexts) {
    return std::make_unique<ByteTokenizer>();
}

}    // namespace slipway

#include <unicode/uchar.h>

#include "api/base/error.h"
#include "executor/text/bpe_files.h"
#include "executor/text/bpe_model.h"
#include "executor/text/bpe_training.h"
#include "executor/text/bpe_words.h"
#include "executor/text/code_points.h"
#include "executor/text/kinds.h"
#include "executor/text/special_names.h"
#include "executor/text/word_cache.h"

namespace slipway {

namespace {

class BpeTokenizer final : public Tokenizer {
public:
    BpeTokenizer(BpeDefinition definition, TokenizerFile file)
        : model_(definition),
          written_(std::move(definition.added)),
          texts_(std::move(definition.tokens)),
          blank_in_front_(definition.blank_in_front),
          file_(std::move(file)) {
        special_ = known_special_tokens(definition.special);
        if (definition.first) special_.first = definition.first;
        if (definition.last) special_.last = definition.last;
    }

    std::int64_t vocabulary_size() const override { return std::int64_t(texts_.size()); }

    void encode(std::string_view text, std::vector<std::int32_t>& tokens) const override {
        WordCache cache;
        BpeWorkspace workspace;
        written_.divide(
            text, [&](std::string_view plain) { encode_plain(plain, cache, workspace, tokens); },
            [&](std::int32_t token) { tokens.push_back(token); });
    }

    std::string decode(std::span<const std::int32_t> tokens) const override {
        std::string text;
        for (const std::int32_t token : tokens) {
            check_token(token, vocabulary_size());
            text += texts_[std::size_t(token)];
        }
        return text;
    }

    TokenizerFile file() const override { return file_; }

private:
    void encode_plain(std::string_view text, WordCache& cache, BpeWorkspace& workspace,
                      std::vector<std::int32_t>& tokens) const {
        const auto encode_word = [&](std::string_view word, std::vector<std::int32_t>& out) {
            model_.encode_word(word, workspace, out);
        };
        std::size_t begin = 0;
        if (blank_in_front_ && !begins_with_space(text)) {
            begin = end_of_first_word(text);
            encode_word(" " + std::string(text.substr(0, begin)), tokens);
        }
        for (std::size_t end = 0; begin < text.size(); begin = end) {
            end = end_of_bpe_word(text, begin);
            cache.append(text.substr(begin, end - begin), tokens, encode_word);
        }
    }

    static bool begins_with_space(std::string_view text) {
        std::size_t place = 0;
        return u_isUWhiteSpace(next_code_point(text, place)) != 0;
    }

    /// As it is with a blank in front: "'s" is no contraction then.
    static std::size_t end_of_first_word(std::string_view text) {
        if (text[0] != '\'') return end_of_bpe_word(text, 0);
        const std::string beginning = " " + std::string(text);
        return end_of_bpe_word(beginning, 0) - 1;
    }

    BpeModel model_;
    WrittenTokens written_;
    std::vector<std::string> texts_;    // bytes of each token
    bool blank_in_front_;
    TokenizerFile file_;
};

void check_options(const TokenizerOptions& options) {
    if (options.file.empty() == (options.vocabulary_size > 0)) return;
    throw Error{ErrorCode::invalid_argument,
                "a bpe tokenizer needs its file, or vocab_size to train one; not both"};
}

}    // namespace

std::unique_ptr<Tokenizer> make_bpe_tokenizer(const TokenizerOptions& options, const Folder& folder,
                                              TrainingTexts texts) {
    check_options(options);
    const std::string name = "tokenizer.json";
    if (options.file.empty()) {
        BpeDefinition trained = train_bpe(texts, options.vocabulary_size);
        TokenizerFile file{name, write_bpe(trained)};
        return std::make_unique<BpeTokenizer>(std::move(trained), std::move(file));
    }
    BpeDefinition read = read_bpe(folder, options.file);
    // What cannot be said in vocab.json and merges.txt was not asked: to write it anew loses
    // nothing.
    TokenizerFile file{name, options.file.ends_with("vocab.json")
                                 ? write_bpe(read)
                                 : read_tokenizer_file(folder, options.file)};
    return std::make_unique<BpeTokenizer>(std::move(read), std::move(file));
}

}    // namespace slipway

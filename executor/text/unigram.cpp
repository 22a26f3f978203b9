#include <fmt/core.h>
#include <sentencepiece_processor.h>

#include <algorithm>
#include <cmath>
#include <exception>

#include "executor/data/problem.h"
#include "executor/data/utf8.h"
#include "executor/text/kinds.h"
#include "executor/text/special_names.h"

namespace slipway {

namespace {

/// What the library says quotes pieces as they are, UTF-8 or not.
std::string readable(std::string message) {
    while (const auto bad = first_bad_utf8(message))
        message[*bad] = '?';
    return message;
}

class UnigramTokenizer final : public Tokenizer {
public:
    UnigramTokenizer(const std::string& bytes, const std::string& file) {
        const auto status = load(bytes, file);
        if (!status.ok() || processor_.GetPieceSize() == 0) {
            throw DataError(
                {.file = file,
                 .message = fmt::format(
                     "it is not a sentencepiece model: {}",
                     status.ok() ? "it has no pieces" : readable(status.error_message()))});
        }
        std::vector<NamedToken> special;
        for (int token = 0; token < processor_.GetPieceSize(); ++token) {
            require_usable(token, file);
            const bool no_text = processor_.IsControl(token) || processor_.IsUnknown(token);
            if (no_text) special.emplace_back(processor_.IdToPiece(token), token);
        }
        special_ = known_special_tokens(special);
        special_.unknown = processor_.unk_id();
        if (processor_.pad_id() >= 0) special_.padding = processor_.pad_id();
        if (processor_.eos_id() >= 0) special_.end_of_text = processor_.eos_id();
    }

    std::int64_t vocabulary_size() const override { return processor_.GetPieceSize(); }

    void encode(std::string_view text, std::vector<std::int32_t>& tokens) const override {
        std::vector<int> line_tokens;
        for (std::size_t begin = 0; begin < text.size();) {
            const std::size_t end = std::min(text.find('\n', begin), text.size());
            const auto status = processor_.Encode(text.substr(begin, end - begin), &line_tokens);
            if (!status.ok()) refuse_use("encode", status);
            tokens.insert(tokens.end(), line_tokens.begin(), line_tokens.end());
            begin = end + 1;
        }
    }

    std::string decode(std::span<const std::int32_t> tokens) const override {
        for (const std::int32_t token : tokens)
            check_token(token, vocabulary_size());
        std::string text;
        const auto status =
            processor_.Decode(std::vector<int>(tokens.begin(), tokens.end()), &text);
        if (!status.ok()) refuse_use("decode", status);
        return text;
    }

    TokenizerFile file() const override {
        return {"sentencepiece.model", processor_.serialized_model_proto()};
    }

private:
    /// Some models are wrong in ways that only show when they are used.
    [[noreturn]] static void refuse_use(const char* what,
                                        const sentencepiece::util::Status& status) {
        throw Error{ErrorCode::data_loss, fmt::format("the sentencepiece model cannot {} text: {}",
                                                      what, readable(status.error_message()))};
    }

    sentencepiece::util::Status load(const std::string& bytes, const std::string& file) {
        try {
            return processor_.LoadFromSerializedProto(bytes);
        } catch (const std::exception& problem) {    // of its trie: a piece with a zero byte
            throw DataError({.file = file,
                             .message = fmt::format("it is not a sentencepiece model: {}",
                                                    readable(problem.what()))});
        }
    }

    /// What sentencepiece itself does not ask of a piece.
    void require_usable(int token, const std::string& file) const {
        const auto refuse = [&](const char* what) {
            throw DataError({.file = file, .message = fmt::format("piece {} {}", token, what)});
        };
        if (!is_utf8(processor_.IdToPiece(token))) refuse("is not text in UTF-8");
        if (!std::isfinite(processor_.GetScore(token))) refuse("has a score that is no number");
    }

    sentencepiece::SentencePieceProcessor processor_;
};

}    // namespace

std::unique_ptr<Tokenizer> make_unigram_tokenizer(const TokenizerOptions& options,
                                                  const Folder& folder, TrainingTexts) {
    return std::make_unique<UnigramTokenizer>(read_tokenizer_file(folder, options.file),
                                              options.file);
}

}    // namespace slipway

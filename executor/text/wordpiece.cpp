#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>

#include "executor/data/problem.h"
#include "executor/data/utf8.h"
#include "executor/text/basic_tokenizer.h"
#include "executor/text/code_points.h"
#include "executor/text/kinds.h"
#include "executor/text/special_names.h"
#include "executor/text/word_cache.h"
#include "executor/text/written_tokens.h"

// Greedy, longest first: of the rest of a word the longest token that it begins with, inside a word
// with ## before it; a word with a part that no token covers is [UNK] as a whole. Words are cached,
// since a text has few different ones.
// Source: Devlin et al., "BERT", 2018; google-research/bert, tokenization.py
namespace slipway {

namespace {

/// A longer word is [UNK], as in BERT: a search of every beginning of it would take its square.
constexpr std::int64_t word_characters_max = 100;

constexpr std::string_view continuation = "##";
constexpr std::array<std::string_view, 5> bert_names{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};

/// The lines of a vocab.txt: token i is line i + 1.
std::vector<std::string> vocabulary_lines(const std::string& bytes, const std::string& file) {
    std::vector<std::string> lines;
    for (std::size_t begin = 0; begin < bytes.size();) {
        const std::size_t end = std::min(bytes.find('\n', begin), bytes.size());
        std::string line = bytes.substr(begin, end - begin);
        if (line.ends_with('\r')) line.pop_back();
        const auto row = std::int64_t(lines.size()) + 1;
        if (line.empty()) throw DataError({.file = file, .row = row, .message = "it is empty"});
        if (!is_utf8(line)) {
            throw DataError({.file = file, .row = row, .message = "it is not text in UTF-8"});
        }
        lines.push_back(std::move(line));
        begin = end + 1;
    }
    return lines;
}

std::vector<NamedToken> special_tokens_of(const std::vector<std::string>& lines,
                                          const std::string& file) {
    std::vector<NamedToken> special;
    for (const std::string_view name : bert_names) {
        const auto found = std::find(lines.begin(), lines.end(), name);
        if (found != lines.end()) special.emplace_back(name, found - lines.begin());
    }
    if (std::find(lines.begin(), lines.end(), "[UNK]") == lines.end()) {
        throw DataError({.file = file,
                         .message = "it has no [UNK], which words without tokens need; is it "
                                    "a vocabulary of WordPiece, one token a line?"});
    }
    return special;
}

std::vector<WrittenToken> written_out(const std::vector<NamedToken>& special) {
    std::vector<WrittenToken> tokens;
    for (const auto& [name, token] : special)
        tokens.push_back({.text = name, .token = token});
    return tokens;
}

class WordpieceTokenizer final : public Tokenizer {
public:
    WordpieceTokenizer(std::string bytes, const std::string& file, bool lower_case)
        : bytes_(std::move(bytes)),
          lower_case_(lower_case),
          texts_(vocabulary_lines(bytes_, file)),
          written_(written_out(special_tokens_of(texts_, file))) {
        special_ = known_special_tokens(special_tokens_of(texts_, file));
        for (std::size_t i = 0; i < texts_.size(); ++i) {
            std::string_view text = texts_[i];
            const bool inside = text.starts_with(continuation) && text != continuation;
            if (inside) text.remove_prefix(continuation.size());
            auto& pieces = inside ? inside_ : beginning_;
            const auto [first, is_new] = pieces.emplace(text, std::int32_t(i));
            if (!is_new) {
                throw DataError(
                    {.file = file,
                     .row = std::int64_t(i) + 1,
                     .message = fmt::format("{} is in row {} too", texts_[i], first->second + 1)});
            }
            piece_bytes_max_ = std::max(piece_bytes_max_, text.size());
        }
    }

    std::int64_t vocabulary_size() const override { return std::int64_t(texts_.size()); }

    void encode(std::string_view text, std::vector<std::int32_t>& tokens) const override {
        WordCache cache;
        written_.divide(
            text, [&](std::string_view plain) { encode_plain(plain, cache, tokens); },
            [&](std::int32_t token) { tokens.push_back(token); });
    }

    std::string decode(std::span<const std::int32_t> tokens) const override {
        std::string text;
        for (const std::int32_t token : tokens) {
            check_token(token, vocabulary_size());
            std::string_view piece = texts_[std::size_t(token)];
            const bool inside = piece.starts_with(continuation) && piece != continuation;
            if (inside) piece.remove_prefix(continuation.size());
            if (!inside && !text.empty()) text += ' ';
            text += piece;
        }
        return text;
    }

    TokenizerFile file() const override { return {"vocab.txt", bytes_}; }

private:
    using Pieces = std::unordered_map<std::string_view, std::int32_t>;

    /// Whatever the basic tokenizer does, it does between these blanks.
    void encode_plain(std::string_view text, WordCache& cache,
                      std::vector<std::int32_t>& tokens) const {
        constexpr std::string_view blanks = " \t\n\r";
        for (std::size_t end = 0; end < text.size();) {
            std::size_t begin = end;
            while (begin < text.size() && blanks.find(text[begin]) != std::string_view::npos)
                ++begin;
            end = begin;
            while (end < text.size() && blanks.find(text[end]) == std::string_view::npos)
                ++end;
            if (begin == end) return;
            cache.append(text.substr(begin, end - begin), tokens,
                         [this](std::string_view chunk, std::vector<std::int32_t>& out) {
                             for (const std::string& word : basic_words(chunk, lower_case_))
                                 encode_word(word, out);
                         });
        }
    }

    /// Greedy: the longest token that the rest of the word begins with.
    void encode_word(std::string_view word, std::vector<std::int32_t>& tokens) const {
        const std::size_t before = tokens.size();
        const auto characters = std::count_if(word.begin(), word.end(),
                                              [](char byte) { return U8_IS_TRAIL(byte) == 0; });
        bool known = characters <= word_characters_max;
        for (std::size_t begin = 0; known && begin < word.size();) {
            const Pieces& pieces = begin == 0 ? beginning_ : inside_;
            std::size_t length = std::min(word.size() - begin, piece_bytes_max_);
            auto found = pieces.end();
            for (; length > 0 && found == pieces.end(); --length)
                found = pieces.find(word.substr(begin, length));
            known = found != pieces.end();
            if (!known) break;
            tokens.push_back(found->second);
            begin += found->first.size();
        }
        if (known) return;
        tokens.resize(before);
        tokens.push_back(*special_.unknown);
    }

    std::string bytes_;
    bool lower_case_;
    std::vector<std::string> texts_;
    WrittenTokens written_;
    Pieces beginning_, inside_;    // point into texts_
    std::size_t piece_bytes_max_ = 0;
};

}    // namespace

std::unique_ptr<Tokenizer> make_wordpiece_tokenizer(const TokenizerOptions& options,
                                                    const Folder& folder, TrainingTexts) {
    return std::make_unique<WordpieceTokenizer>(read_tokenizer_file(folder, options.file),
                                                options.file, options.lower_case);
}

}    // namespace slipway

#include "executor/text/token_sequences.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "executor/data/formats/text.h"

namespace slipway {

namespace {

[[noreturn]] void refuse(const std::string& message) {
    throw Error{ErrorCode::invalid_argument, message};
}

std::vector<TextPart> read_parts(const std::filesystem::path& path, const Folder& folder,
                                 const std::string& tokenizer_file) {
    ProblemLog problems(ProblemLog::Mode::throw_first);
    std::vector<TextPart> parts;
    std::int64_t bytes = 0;
    for (const std::string& file : text_files(path, tokenizer_file)) {
        bytes +=
            std::int64_t(parts.emplace_back(read_text_part(folder, file, problems)).text.size());
        if (bytes > text_bytes_max) {
            throw Error{ErrorCode::exhausted,
                        fmt::format("the dataset has more than {} bytes of text, the most that "
                                    "is read",
                                    text_bytes_max)};
        }
    }
    if (bytes == 0) throw DataError({.message = "there is no text in its files"});
    return parts;
}

std::vector<std::string_view> training_texts(const std::vector<TextPart>& parts,
                                             const std::string& training_part) {
    std::vector<std::string_view> texts;
    std::vector<std::string_view> names;
    for (const TextPart& part : parts) {
        names.push_back(part.name);
        if (training_part.empty() || part.name == training_part) texts.push_back(part.text);
    }
    if (texts.empty()) {
        refuse(fmt::format("there is no part {}; there are {}", training_part,
                           fmt::join(names, ", ")));
    }
    return texts;
}

/// Cuts one part after another.
class Cutter {
public:
    Cutter(const Tokenizer& tokenizer, const CutOptions& cut)
        : cut_(cut),
          special_(tokenizer.special()),
          framed_(cut.framed && special_.first && special_.last),
          room_(cut.length - (framed_ ? 2 : 0)) {
        const std::int64_t least = framed_ ? 3 : 2;
        if (cut.length < least) {
            refuse(fmt::format("max_length must be at least {}{}, got {}", least,
                               framed_ ? ", with a first and a last token around every row" : "",
                               cut.length));
        }
        if (cut.overlap < 0 || cut.overlap >= room_) {
            refuse(fmt::format("rows of {} tokens can share 0 to {}, got {}", room_, room_ - 1,
                               cut.overlap));
        }
        rows_.length = cut.length;
        rows_.vocabulary_size = tokenizer.vocabulary_size();
        rows_.padding = special_.padding;
        rows_.mask = special_.mask;
        rows_.unknown = special_.unknown;
        rows_.special = special_.all;
    }

    void add_part(std::int32_t part, const std::vector<std::int32_t>& tokens) {
        const auto count = std::int64_t(tokens.size());
        for (std::int64_t begin = 0; begin < count; begin += room_ - cut_.overlap) {
            const std::int64_t length = std::min(room_, count - begin);
            add_row(std::span(tokens).subspan(std::size_t(begin), std::size_t(length)));
            rows_.parts.push_back(part);
            if (begin + length == count) break;
        }
    }

    TokenSequences finish() {
        rows_.tokens = std::move(tokens_);
        return std::move(rows_);
    }

private:
    void add_row(std::span<const std::int32_t> tokens) {
        std::vector<std::int32_t>& all = tokens_;
        const std::size_t begin = all.size();
        if (framed_) all.push_back(*special_.first);
        all.insert(all.end(), tokens.begin(), tokens.end());
        if (framed_) all.push_back(*special_.last);
        rows_.token_counts.push_back(std::int32_t(all.size() - begin));
        all.resize(begin + std::size_t(cut_.length), special_.padding.value_or(0));
    }

    CutOptions cut_;
    SpecialTokens special_;
    bool framed_;
    std::int64_t room_;      // for text, in a row
    TokenSequences rows_;    // without its tokens
    std::vector<std::int32_t> tokens_;
};

}    // namespace

TokenizedText open_token_sequences(const std::filesystem::path& path,
                                   const TokenizerOptions& tokenizer, const CutOptions& cut,
                                   const std::string& training_part,
                                   std::unique_ptr<Tokenizer> made) {
    const Folder folder = text_folder(path);
    std::vector<TextPart> parts = read_parts(path, folder, tokenizer.file);
    TokenizedText result;
    const std::vector<std::string_view> texts = training_texts(parts, training_part);
    result.tokenizer = made ? std::move(made) : make_tokenizer(tokenizer, folder, texts);
    Cutter cutter(*result.tokenizer, cut);
    std::vector<std::string> names;
    for (TextPart& part : parts) {
        std::vector<std::int32_t> tokens;
        result.tokenizer->encode(part.text, tokens);
        std::string().swap(part.text);    // text and tokens of all parts need not fit at once
        cutter.add_part(std::int32_t(names.size()), tokens);
        names.push_back(part.name);
    }
    result.sequences = cutter.finish();
    if (result.sequences.count() == 0) {
        throw DataError({.message = "its text has no tokens: nothing but white space?"});
    }
    if (names.size() == 1) {
        result.sequences.parts.clear();
    } else {
        result.sequences.part_names = std::move(names);
    }
    return result;
}

DatasetIndex index_of(const TokenSequences& sequences) {
    DatasetIndex index;
    index.feature_dims = {sequences.length};
    index.class_names = {"text"};
    index.labels.assign(std::size_t(sequences.count()), 0);
    index.part_names = sequences.part_names;
    index.parts = sequences.parts;
    return index;
}

}    // namespace slipway

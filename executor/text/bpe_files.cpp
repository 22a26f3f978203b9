// Files of other programs are read for exactly what this tokenizer does. Each setting of a
// tokenizer.json that would change the tokens is either done here or refused by name: to pass
// over one would train on other tokens than the user has seen. Tokens are checked as they are
// read (bytes all there, merges made of known parts, numbers without gaps), so that encoding
// needs no checks.
#include "executor/text/bpe_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>

#include "api/base/json.h"
#include "executor/data/problem.h"
#include "executor/data/utf8.h"
#include "executor/text/bpe_training.h"
#include "executor/text/code_points.h"
#include "executor/text/kinds.h"

namespace slipway {

namespace {

/// How GPT-2 writes bytes: those that print stand for themselves, the others for U+0100 and after.
std::array<std::string, 256> letters_of_bytes() {
    std::array<std::string, 256> letters;
    UChar32 next = 0x100;
    for (const unsigned char byte : bytes_in_order()) {
        const bool prints = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte != 0xAD);
        append_utf8(letters[byte], prints ? UChar32(byte) : next++);
    }
    return letters;
}

/// The tokens of a file on their way to a definition.
class Reading {
public:
    explicit Reading(std::string file) : file_(std::move(file)) {
        const std::array<std::string, 256> letters = letters_of_bytes();
        for (std::size_t byte = 0; byte < letters.size(); ++byte)
            bytes_.emplace(letters[byte], char(byte));
    }

    /// Problems are in this file from now on.
    void go_on_in(std::string file) { file_ = std::move(file); }

    [[noreturn]] void refuse(const std::string& message, std::int64_t row = 0) const {
        throw DataError({.file = file_, .row = row, .message = message});
    }

    void take_added(const Json& added) {
        for (const Json& entry : added) {
            const bool whole = entry.is_object() && entry.contains("id") &&
                               entry["id"].is_number_integer() && entry.contains("content") &&
                               entry["content"].is_string() && entry["content"] != "";
            if (!whole) refuse("added_tokens has an entry without id and content");
            if (entry.value("single_word", Json()) == true) {
                refuse(fmt::format("the added token {} is a single_word, which is not read",
                                   entry["content"].get<std::string>()));
            }
            WrittenToken token{.text = entry["content"],
                               .token = number(entry["id"], entry["content"]),
                               .takes_spaces_before = entry.value("lstrip", Json()) == true,
                               .takes_spaces_after = entry.value("rstrip", Json()) == true};
            add(std::move(token), entry.value("special", Json()) == true);
        }
    }

    /// Names that are special wherever they are: vocab.json does not say which are.
    void take_known_names(const Json& vocabulary) {
        for (const char* name : {"<|endoftext|>", "<s>", "<pad>", "</s>", "<unk>", "<mask>"}) {
            if (!vocabulary.contains(name)) continue;
            add({.text = name, .token = number(vocabulary[name], name)}, true);
        }
    }

    void take_vocabulary(const Json& vocabulary) {
        if (!vocabulary.is_object()) refuse("the vocabulary is not a JSON object");
        for (const auto& [name, value] : vocabulary.items()) {
            const std::int32_t token = number(value, name);
            numbers_.emplace(name, token);
            const auto added = added_.find(name);
            const bool is_added = added != added_.end() && added->second == token;
            if (!is_added) place(token, bytes_of(name), name);
        }
        for (std::size_t token = 0; token < taken_.size(); ++token)
            if (!taken_[token]) refuse(fmt::format("number {} has no token", token));
        for (const auto& [letter, byte] : bytes_) {
            const auto found = numbers_.find(letter);
            if (found == numbers_.end()) {
                refuse(fmt::format("the vocabulary has no token for the byte {:#04x} ({})",
                                   static_cast<unsigned char>(byte), letter));
            }
            definition_.bytes[static_cast<unsigned char>(byte)] = found->second;
        }
    }

    void take_merge(const std::string& left, const std::string& right, std::int64_t row) {
        BpeMerge merge{};
        for (const auto& [name, token] :
             {std::pair(left, &merge.left), {right, &merge.right}, {left + right, &merge.result}}) {
            const auto found = numbers_.find(name);
            if (found == numbers_.end()) {
                refuse(fmt::format("the merge of \"{}\" and \"{}\" needs the token \"{}\", which "
                                   "the vocabulary lacks",
                                   left, right, name),
                       row);
            }
            *token = found->second;
        }
        definition_.merges.push_back(merge);
    }

    /// "left right".
    void take_merge(const std::string& text, std::int64_t row) {
        const std::size_t blank = text.find(' ');
        const bool one = blank != std::string::npos && blank > 0 && blank + 1 < text.size() &&
                         text.find(' ', blank + 1) == std::string::npos;
        if (!one) refuse(fmt::format("\"{}\" is not a merge of two tokens", text), row);
        take_merge(text.substr(0, blank), text.substr(blank + 1), row);
    }

    BpeDefinition& definition() { return definition_; }

private:
    static constexpr std::int64_t tokens_max = 10'000'000;

    std::int32_t number(const Json& value, const std::string& name) const {
        if (!value.is_number_integer() || value < 0 || value >= tokens_max) {
            refuse(fmt::format(
                "the number of the token \"{}\" is {}, not a whole number from 0 "
                "to {}",
                name, value.dump(-1, ' ', false, Json::error_handler_t::replace), tokens_max - 1));
        }
        return value.get<std::int32_t>();
    }

    void add(WrittenToken token, bool is_special) {
        place(token.token, token.text, token.text);
        added_.emplace(token.text, token.token);
        if (is_special) definition_.special.emplace_back(token.text, token.token);
        definition_.added.push_back(std::move(token));
    }

    void place(std::int32_t token, const std::string& bytes, const std::string& name) {
        const auto index = std::size_t(token);
        if (index >= taken_.size()) {
            taken_.resize(index + 1, false);
            definition_.tokens.resize(index + 1);
        }
        if (taken_[index]) {
            refuse(
                fmt::format("\"{}\" has the number {}, which another token has too", name, token));
        }
        taken_[index] = true;
        definition_.tokens[index] = bytes;
    }

    std::string bytes_of(const std::string& name) const {
        std::string bytes;
        each_code_point(name, [&](UChar32 point) {
            std::string letter;
            append_utf8(letter, point);
            const auto found = bytes_.find(letter);
            if (found == bytes_.end()) {
                refuse(
                    fmt::format("the token \"{}\" has \"{}\", which stands for no byte: is it "
                                "the vocabulary of a byte-level BPE?",
                                name, letter));
            }
            bytes += found->second;
        });
        return bytes;
    }

    std::string file_;
    BpeDefinition definition_;
    std::vector<bool> taken_;
    std::unordered_map<std::string, std::int32_t> added_;      // by name
    std::unordered_map<std::string, std::int32_t> numbers_;    // by name
    std::unordered_map<std::string, char> bytes_;              // by letter
};

const Json& member(const Json& object, const char* name) {
    static const Json none;
    const auto found = object.is_object() ? object.find(name) : object.end();
    return found == object.end() ? none : *found;
}

std::string type_of(const Json& object) {
    const Json& type = member(object, "type");
    return type.is_string() ? type.get<std::string>() : object.is_null() ? "none" : "another";
}

/// Whatever would change the tokens and is not done here is refused: wrong numbers would train.
void check_what_it_asks(const Json& whole, const Reading& reading) {
    const auto refuse = [&](const char* what, const Json& got, const char* wanted) {
        reading.refuse(fmt::format("its {} is {}; {} is read", what, type_of(got), wanted));
    };
    const Json& model = member(whole, "model");
    if (type_of(model) != "BPE") refuse("model", model, "BPE");
    if (!member(whole, "normalizer").is_null()) {
        refuse("normalizer", member(whole, "normalizer"), "none");
    }
    const Json& words = member(whole, "pre_tokenizer");
    if (type_of(words) != "ByteLevel" || member(words, "use_regex") == false) {
        refuse("pre_tokenizer", words, "ByteLevel with GPT-2's rule");
    }
    for (const char* option : {"dropout", "continuing_subword_prefix", "end_of_word_suffix",
                               "byte_fallback", "ignore_merges"}) {
        const Json& value = member(model, option);
        if (!value.is_null() && value != "" && value != false) {
            reading.refuse(fmt::format("its model's {} is {}, which is not read", option,
                                       value.dump(-1, ' ', true)));
        }
    }
}

/// [CLS] and [SEP] under whatever name, as RoBERTa's and BERT's files say it.
void take_frame(const Json& whole, Reading& reading) {
    const Json& processor = member(whole, "post_processor");
    const std::string type = type_of(processor);
    if (type == "none" || type == "ByteLevel") return;
    const auto number = [&](const char* name) {
        const Json& pair = member(processor, name);
        const bool fits = pair.is_array() && pair.size() == 2 && pair[1].is_number_integer() &&
                          pair[1] >= 0 && pair[1] < reading.definition().tokens.size();
        if (!fits) {
            reading.refuse(
                fmt::format("its post_processor is {}; none, ByteLevel, or "
                            "RobertaProcessing with cls and sep is read",
                            type));
        }
        return pair[1].get<std::int32_t>();
    };
    reading.definition().first = number("cls");
    reading.definition().last = number("sep");
}

void take_merges(const Json& merges, Reading& reading) {
    if (!merges.is_array()) reading.refuse("the model has no list of merges");
    for (std::size_t i = 0; i < merges.size(); ++i) {
        const Json& merge = merges[i];
        const auto row = std::int64_t(i) + 1;
        if (merge.is_string()) {
            reading.take_merge(merge.get<std::string>(), row);
        } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() &&
                   merge[1].is_string()) {
            reading.take_merge(merge[0], merge[1], row);
        } else {
            reading.refuse("the merge is no text and no pair of texts", row);
        }
    }
}

/// Rows are lines of the file.
void take_merges_file(const std::string& text, Reading& reading) {
    std::int64_t row = 0;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        std::string line = text.substr(begin, end - begin);
        if (line.ends_with('\r')) line.pop_back();
        begin = end + 1;
        ++row;
        if (line.empty() || (row == 1 && line.starts_with("#version"))) continue;
        if (!is_utf8(line)) reading.refuse("it is not text in UTF-8", row);
        reading.take_merge(line, row);
    }
}

BpeDefinition read_vocabulary_and_merges(const Folder& folder, const std::string& name) {
    Reading reading(name);
    const Json vocabulary = read_tokenizer_json(folder, name);
    reading.take_known_names(vocabulary);
    reading.take_vocabulary(vocabulary);
    const std::string merges = name.substr(0, name.rfind("vocab.json")) + "merges.txt";
    reading.go_on_in(merges);
    take_merges_file(read_tokenizer_file(folder, merges), reading);
    return std::move(reading.definition());
}

Json byte_level() {
    return {{"type", "ByteLevel"},
            {"add_prefix_space", false},
            {"trim_offsets", true},
            {"use_regex", true}};
}

}    // namespace

BpeDefinition read_bpe(const Folder& folder, const std::string& name) {
    if (name.ends_with("vocab.json")) return read_vocabulary_and_merges(folder, name);
    Reading reading(name);
    const Json whole = read_tokenizer_json(folder, name);
    check_what_it_asks(whole, reading);
    const Json& added = member(whole, "added_tokens");
    if (!added.is_null()) reading.take_added(added);
    reading.take_vocabulary(member(member(whole, "model"), "vocab"));
    take_merges(member(member(whole, "model"), "merges"), reading);
    take_frame(whole, reading);
    reading.definition().blank_in_front =
        member(member(whole, "pre_tokenizer"), "add_prefix_space") == true;
    return std::move(reading.definition());
}

std::string write_bpe(const BpeDefinition& definition) {
    const std::array<std::string, 256> letters = letters_of_bytes();
    std::vector<std::string> names(definition.tokens.size());
    for (std::size_t token = 0; token < names.size(); ++token) {
        for (const char byte : definition.tokens[token])
            names[token] += letters[static_cast<unsigned char>(byte)];
    }
    Json added = Json::array();
    for (const auto& [name, token] : definition.special) {
        names[std::size_t(token)] = name;
        added.push_back({{"id", token},
                         {"content", name},
                         {"single_word", false},
                         {"lstrip", false},
                         {"rstrip", false},
                         {"normalized", false},
                         {"special", true}});
    }
    Json vocabulary = Json::object(), merges = Json::array();
    for (std::size_t token = 0; token < names.size(); ++token)
        vocabulary[names[token]] = token;
    for (const BpeMerge& merge : definition.merges)
        merges.push_back(names[std::size_t(merge.left)] + " " + names[std::size_t(merge.right)]);
    return Json{{"version", "1.0"},
                {"truncation", nullptr},
                {"padding", nullptr},
                {"added_tokens", added},
                {"normalizer", nullptr},
                {"pre_tokenizer", byte_level()},
                {"post_processor", byte_level()},
                {"decoder", byte_level()},
                {"model",
                 {{"type", "BPE"},
                  {"dropout", nullptr},
                  {"unk_token", nullptr},
                  {"continuing_subword_prefix", nullptr},
                  {"end_of_word_suffix", nullptr},
                  {"fuse_unk", false},
                  {"byte_fallback", false},
                  {"vocab", vocabulary},
                  {"merges", merges}}}}
               .dump() +
           "\n";
}

}    // namespace slipway

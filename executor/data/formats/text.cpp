#include "executor/data/formats/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "api/base/letter_case.h"
#include "executor/data/formats/distinct_parts.h"
#include "executor/data/formats/format.h"
#include "executor/data/utf8.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

bool is_tokenizer_name(const std::string& any_case) {
    const std::string name = lower_case(any_case);
    return name == "vocab.txt" || name == "merges.txt" || name.ends_with(".json") ||
           name.ends_with(".model");
}

bool is_text_name(const std::string& any_case) {
    const std::string name = lower_case(any_case);
    return (name.ends_with(".txt") || name.ends_with(".txt.gz")) && !is_tokenizer_name(name);
}

/// Not those below.
std::vector<std::string> files_in(const fs::path& path) {
    std::vector<std::string> files = Folder(path).list();
    std::erase_if(files, [](const std::string& name) { return name.find('/') != name.npos; });
    return files;
}

std::string part_of_text(std::string_view file) {
    return without_ending(file, ".txt");
}

std::string read_whole(ByteStream stream) {
    std::string text;
    constexpr std::size_t piece = 4 << 20;    // the file decides how much memory is taken
    for (std::size_t begin = 0;; begin = text.size()) {
        text.resize(begin + piece);
        const std::size_t count =
            stream.read(std::as_writable_bytes(std::span(text).subspan(begin)));
        text.resize(begin + count);
        if (count < piece) return text;
        if (std::int64_t(text.size()) > text_bytes_max) {
            throw Error{ErrorCode::exhausted,
                        fmt::format("{} has more than {} bytes of text, the most that is read",
                                    stream.name(), text_bytes_max)};
        }
    }
}

}    // namespace

Folder text_folder(const fs::path& path) {
    return Folder(fs::is_regular_file(path) ? path.parent_path() / "." : path);
}

std::vector<std::string> text_files(const fs::path& path, const std::string& but) {
    if (fs::is_regular_file(path)) return {path.filename().string()};
    std::vector<std::string> files = files_in(path);
    if (files.size() == 1 && !is_tokenizer_name(files[0])) return files;    // an upload's one file
    std::erase_if(files,
                  [&](const std::string& name) { return !is_text_name(name) || name == but; });
    if (files.empty()) {
        throw DataError({.message = "the folder has no file that ends with .txt or .txt.gz"});
    }
    require_distinct_parts(files, part_of_text);
    return files;
}

std::vector<std::string> text_and_tokenizer_files(const fs::path& path) {
    std::vector<std::string> files = text_files(path);
    if (fs::is_regular_file(path)) return files;
    for (std::string& name : files_in(path)) {
        if (is_tokenizer_name(name)) files.push_back(std::move(name));
    }
    return files;
}

std::unique_ptr<Dataset> open_text(const fs::path& path, const DatasetOptions&, ProblemLog&) {
    text_files(path);
    throw Error{ErrorCode::invalid_argument,
                "a dataset of text has no classes; its tasks are causal_lm and masked_lm"};
}

TextPart read_text_part(const Folder& folder, const std::string& file, ProblemLog& problems) {
    TextPart part{file, part_of_text(file), read_whole(ByteStream(folder.open(file), file))};
    const std::size_t nul = part.text.find('\0');
    const std::optional<std::size_t> bad =
        first_bad_utf8(std::string_view(part.text).substr(0, nul));
    if (bad || nul != std::string::npos) {
        const std::size_t place = bad.value_or(nul);
        const auto before = std::string_view(part.text).substr(0, place);
        problems.add(
            {.file = file,
             .row = std::count(before.begin(), before.end(), '\n') + 1,
             .message = fmt::format("byte {} of the file is {:#04x}, which is not text in UTF-8{}",
                                    place, static_cast<unsigned char>(part.text[place]),
                                    bad && !is_utf16(part.text) ? "" : "; is it UTF-16?")});
        part.text.resize(place);
    }
    part.text.erase(0, part.text.size() - without_byte_order_mark(part.text).size());
    return part;
}

TextCounts count_text(std::string_view text) {
    TextCounts counts{.bytes = std::int64_t(text.size())};
    for (const char byte : text) {
        counts.characters += (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
        counts.lines += byte == '\n';
    }
    if (!text.empty() && text.back() != '\n') ++counts.lines;
    return counts;
}

}    // namespace slipway

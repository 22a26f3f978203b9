#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executor/data/files.h"
#include "executor/data/problem.h"

namespace slipway {

/// A part of a dataset of the format `text`: one file.
struct TextPart {
    std::string file;    ///< relative to the folder
    std::string name;    ///< without .txt and .gz: train, valid, test
    std::string text;    ///< UTF-8, without NUL and without a byte order mark
};

/// The folder that the files are in: `path`, or what holds the file `path`.
Folder text_folder(const std::filesystem::path& path);

/// The files with the text of a dataset: *.txt and *.txt.gz of a folder (not below it) but for
/// tokenizers' vocab.txt and merges.txt and the file `but`; or one file of any name, alone in its
/// folder or given itself. In the order of Folder::list(). errors  DataError when there is none;
/// not_found without folder
std::vector<std::string> text_files(const std::filesystem::path& path, const std::string& but = {});

/// Those of a folder and beside them all that a tokenizer may be read from: *.json, *.model,
/// vocab.txt and merges.txt.
std::vector<std::string> text_and_tokenizer_files(const std::filesystem::path& path);

/// Reads one of the files whole. What is not text in UTF-8 (the first bad byte of a file) is a
/// problem; then the part is cut there.
/// errors  DataError when unreadable or damaged, exhausted over text_bytes_max
TextPart read_text_part(const Folder& folder, const std::string& file, ProblemLog& problems);

/// The numbers that describe a text.
struct TextCounts {
    std::int64_t bytes = 0;
    std::int64_t characters = 0;    ///< code points
    std::int64_t lines = 0;         ///< one that does not end counts
};
TextCounts count_text(std::string_view text);

/// At most this many bytes of text are kept in memory, of all parts together.
inline constexpr std::int64_t text_bytes_max = std::int64_t{8} << 30;

}    // namespace slipway

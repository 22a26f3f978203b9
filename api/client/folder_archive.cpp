// POSIX.1-2001: ustar headers, each after a pax header where its fields are too short for a name or
// a size. The archive is a list of parts, texts of our own and ranges of files, found by offset.
#include "api/client/folder_archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <numeric>
#include <utility>

#include "api/client/service.h"

namespace slipway::client {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t block_bytes = 512;
constexpr std::size_t name_bytes_max = 100;
constexpr std::uintmax_t size_max = 077777777777;    // of the 11 octal digits

std::string header_block(const std::string& name, std::uintmax_t bytes, char kind) {
    std::string block(block_bytes, '\0');
    const auto put = [&](std::size_t offset, const std::string& text) {
        block.replace(offset, text.size(), text);
    };
    put(0, name.substr(0, name_bytes_max));
    put(100, "0000644");
    put(108, "0000000");
    put(116, "0000000");
    put(124, fmt::format("{:011o}", std::min(bytes, size_max)));
    put(136, "00000000000");
    put(148, "        ");    // the checksum counts as blanks in itself
    block[156] = kind;
    put(257, std::string("ustar\0", 6) + "00");
    const auto sum = std::accumulate(block.begin(), block.end(), 0U, [](unsigned all, char one) {
        return all + static_cast<unsigned char>(one);
    });
    put(148, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
    return block;
}

std::string padding_of(std::uintmax_t bytes) {
    return std::string((block_bytes - bytes % block_bytes) % block_bytes, '\0');
}

// "29 path=…\n": the number is the length of the record, itself included.
std::string pax_record(const std::string& name, const std::string& value) {
    const std::string rest = fmt::format(" {}={}\n", name, value);
    std::size_t length = rest.size() + 1;
    while (std::to_string(length).size() + rest.size() != length)
        ++length;
    return std::to_string(length) + rest;
}

bool is_hidden(const fs::path& path) {
    return path.filename().string().starts_with('.');
}

// A link that is skipped silently shows only in the results.
void refuse_lost_link(const fs::directory_entry& entry) {
    std::error_code error;
    if (!entry.is_symlink(error) || fs::is_regular_file(entry.path(), error)) return;
    throw Stop(ExitCode::usage,
               fmt::format("{} is a link to {}, which is {}; replace it by what it should be, or "
                           "remove it",
                           entry.path().string(), fs::read_symlink(entry.path(), error).string(),
                           fs::is_directory(entry.path(), error)
                               ? "a folder, and links to folders are not followed"
                               : "no file"));
}

// In order of their names, whatever the order of the folder is.
std::map<std::string, std::pair<fs::path, std::uintmax_t>> files_below(const fs::path& folder) {
    std::map<std::string, std::pair<fs::path, std::uintmax_t>> files;
    std::error_code error;
    auto one = fs::recursive_directory_iterator(folder, error);
    for (; !error && one != fs::recursive_directory_iterator(); one.increment(error)) {
        if (is_hidden(one->path())) {
            if (one->is_directory(error)) one.disable_recursion_pending();
            continue;
        }
        refuse_lost_link(*one);
        if (!one->is_regular_file(error)) continue;
        files[one->path().lexically_relative(folder).generic_string()] = {one->path(),
                                                                          one->file_size(error)};
        if (error) break;
    }
    if (error)
        throw Stop(ExitCode::usage,
                   fmt::format("{} cannot be read: {}", folder.string(), error.message()));
    return files;
}

}    // namespace

FolderArchive::FolderArchive(const fs::path& folder) {
    for (const auto& [name, file] : files_below(folder))
        add_file(name, file.first, file.second);
    if (names_.empty())
        throw Stop(ExitCode::usage, fmt::format("the folder {} has no file", folder.string()));
    add_text(std::string(2 * block_bytes, '\0'));
}

void FolderArchive::add_text(std::string text) {
    if (text.empty()) return;
    const std::uintmax_t bytes = text.size();
    parts_.push_back({.offset = bytes_, .bytes = bytes, .text = std::move(text)});
    bytes_ += bytes;
}

void FolderArchive::add_file(const std::string& name, const fs::path& file,
                             std::uintmax_t file_bytes) {
    std::string records;
    // BINARY: a reader takes the bytes as they are, whatever its locale can spell.
    if (name.size() > name_bytes_max)
        records += pax_record("hdrcharset", "BINARY") + pax_record("path", name);
    if (file_bytes > size_max) records += pax_record("size", std::to_string(file_bytes));
    if (!records.empty()) {
        const std::string padding = padding_of(records.size());
        add_text(header_block("pax_header", records.size(), 'x') + records + padding);
    }
    add_text(header_block(name, file_bytes, '0'));
    if (file_bytes > 0) parts_.push_back({.offset = bytes_, .bytes = file_bytes, .file = file});
    bytes_ += file_bytes;
    add_text(padding_of(file_bytes));
    names_.push_back(name);
}

std::string FolderArchive::read(std::uintmax_t offset, std::size_t bytes_max) const {
    std::string out;
    auto part = std::ranges::upper_bound(parts_, offset, {}, &Part::offset);
    if (part != parts_.begin()) --part;
    for (; part != parts_.end() && out.size() < bytes_max; ++part) {
        const std::uintmax_t skipped = offset + out.size() - part->offset;
        if (skipped >= part->bytes) continue;
        const auto wanted = static_cast<std::size_t>(
            std::min<std::uintmax_t>(part->bytes - skipped, bytes_max - out.size()));
        if (part->file.empty()) {
            out += part->text.substr(static_cast<std::size_t>(skipped), wanted);
            continue;
        }
        std::error_code error;
        std::ifstream file(part->file, std::ios::binary);
        file.seekg(static_cast<std::streamoff>(skipped));
        const std::size_t have = out.size();
        out.resize(have + wanted);
        if (fs::file_size(part->file, error) != part->bytes || error ||
            !file.read(out.data() + have, static_cast<std::streamsize>(wanted)))
            throw Stop(ExitCode::usage,
                       fmt::format("{} changed during the upload", part->file.string()));
    }
    return out;
}

}    // namespace slipway::client

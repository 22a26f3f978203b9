#include "tests/executor/data/formats/make_npz.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/core.h>

#include <cstring>

namespace slipway {

std::string npy_file(const std::string& type, const std::string& shape, const std::string& items) {
    std::string literal =
        fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", type, shape);
    literal.resize((literal.size() + 10 + 1 + 63) / 64 * 64 - 10 - 1, ' ');
    literal += '\n';
    std::string file = "\x93NUMPY\x01";
    file += '\0';
    file += char(literal.size() & 0xFF);
    file += char(literal.size() >> 8);
    return file + literal + items;
}

std::string integers(const std::vector<std::int64_t>& numbers, std::size_t bytes) {
    std::string items;
    for (const std::int64_t number : numbers)
        for (std::size_t i = 0; i < bytes; ++i)
            items += char(number >> 8 * i & 0xFF);
    return items;
}

std::string doubles(const std::vector<double>& numbers) {
    return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double)};
}

std::string npz_file(const std::vector<std::pair<std::string, std::string>>& arrays,
                     bool deflated) {
    std::size_t bytes = 1 << 16;
    for (const auto& [name, content] : arrays)
        bytes += content.size() + 512 + 4 * name.size();
    std::string file(bytes, '\0');
    archive* handle = archive_write_new();
    archive_write_set_format_zip(handle);
    archive_write_set_options(handle,
                              deflated ? "zip:compression=deflate" : "zip:compression=store");
    archive_write_set_bytes_in_last_block(handle, 1);
    std::size_t used = 0;
    archive_write_open_memory(handle, file.data(), file.size(), &used);
    for (const auto& [name, content] : arrays) {
        archive_entry* entry = archive_entry_new();
        archive_entry_set_pathname(entry, (name + ".npy").c_str());
        archive_entry_set_size(entry, la_int64_t(content.size()));
        archive_entry_set_filetype(entry, AE_IFREG);
        archive_entry_set_perm(entry, 0644);
        archive_write_header(handle, entry);
        archive_write_data(handle, content.data(), content.size());
        archive_entry_free(entry);
    }
    archive_write_close(handle);
    archive_write_free(handle);
    file.resize(used);
    return file;
}

}    // namespace slipway

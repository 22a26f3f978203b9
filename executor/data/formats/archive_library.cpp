// libarchive is loaded by the process that reads its first archive: with it come the libraries of
// XML, of access lists, of ciphers and of four ways to compress. Every executor started them, and
// held 0.13 MB of addresses for them, while few read a zip or tar file. It stays the system's
// shared library, so that what the system mends in it is mended here.
#include "executor/data/formats/archive_library.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include "api/base/error.h"

namespace slipway {

namespace {

[[noreturn]] void refuse() {
    throw Error{ErrorCode::unavailable, fmt::format("archives cannot be read: {}", dlerror())};
}

template <class Function>
void find(void* library, const char* name, Function& function) {
    void* const found = dlsym(library, name);
    if (found == nullptr) refuse();
    function = reinterpret_cast<Function>(found);
}

}    // namespace

ArchiveLibrary load_archive_library(const std::string& file) {
    void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) refuse();
    ArchiveLibrary used{};
    find(library, "archive_error_string", used.error_string);
    find(library, "archive_filter_bytes", used.filter_bytes);
    find(library, "archive_read_new", used.read_new);
    find(library, "archive_read_free", used.read_free);
    find(library, "archive_read_support_format_zip_seekable",
         used.read_support_format_zip_seekable);
    find(library, "archive_read_support_format_zip_streamable",
         used.read_support_format_zip_streamable);
    find(library, "archive_read_support_format_tar", used.read_support_format_tar);
    find(library, "archive_read_support_filter_gzip", used.read_support_filter_gzip);
    find(library, "archive_read_open", used.read_open);
    find(library, "archive_read_open_fd", used.read_open_fd);
    find(library, "archive_read_open_filename", used.read_open_filename);
    find(library, "archive_read_next_header", used.read_next_header);
    find(library, "archive_read_data", used.read_data);
    find(library, "archive_entry_pathname", used.entry_pathname);
    find(library, "archive_entry_pathname_utf8", used.entry_pathname_utf8);
    find(library, "archive_entry_filetype", used.entry_filetype);
    find(library, "archive_entry_size", used.entry_size);
    find(library, "archive_entry_hardlink", used.entry_hardlink);
    find(library, "archive_entry_symlink", used.entry_symlink);
    find(library, "archive_entry_sparse_count", used.entry_sparse_count);
    find(library, "archive_entry_is_encrypted", used.entry_is_encrypted);
    return used;
}

const ArchiveLibrary& archive_library() {
    static const ArchiveLibrary library = load_archive_library(SLIPWAY_ARCHIVE_LIBRARY);
    return library;
}

}    // namespace slipway

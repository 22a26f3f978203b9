#pragma once

#include <archive.h>
#include <archive_entry.h>

#include <string>

namespace slipway {

/// What is used of libarchive, under its own names without "archive_".
struct ArchiveLibrary {
    decltype(&archive_error_string) error_string;
    decltype(&archive_filter_bytes) filter_bytes;
    decltype(&archive_read_new) read_new;
    decltype(&archive_read_free) read_free;
    decltype(&archive_read_support_format_zip_seekable) read_support_format_zip_seekable;
    decltype(&archive_read_support_format_zip_streamable) read_support_format_zip_streamable;
    decltype(&archive_read_support_format_tar) read_support_format_tar;
    decltype(&archive_read_support_filter_gzip) read_support_filter_gzip;
    decltype(&archive_read_open) read_open;
    decltype(&archive_read_open_fd) read_open_fd;
    decltype(&archive_read_open_filename) read_open_filename;
    decltype(&archive_read_next_header) read_next_header;
    decltype(&archive_read_data) read_data;
    decltype(&archive_entry_pathname) entry_pathname;
    decltype(&archive_entry_pathname_utf8) entry_pathname_utf8;
    decltype(&archive_entry_filetype) entry_filetype;
    decltype(&archive_entry_size) entry_size;
    decltype(&archive_entry_hardlink) entry_hardlink;
    decltype(&archive_entry_symlink) entry_symlink;
    decltype(&archive_entry_sparse_count) entry_sparse_count;
    decltype(&archive_entry_is_encrypted) entry_is_encrypted;
};

/// Loads the library at the first call. From every thread.
/// errors  unavailable when it cannot be loaded
const ArchiveLibrary& archive_library();

/// The same of a library by its name or path. It is never unloaded.
ArchiveLibrary load_archive_library(const std::string& file);

struct FreeArchive {
    void operator()(archive* handle) const { archive_library().read_free(handle); }
};

}    // namespace slipway

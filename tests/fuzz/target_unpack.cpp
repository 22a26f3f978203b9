#include <fmt/core.h>

#include <filesystem>

#include "api/base/check.h"
#include "api/base/error.h"
#include "executor/data/unpack.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"
#include "tests/support/temp_folder.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

/// Files below, of which each is a plain one and lies where it says it does.
std::int64_t plain_files(const fs::path& folder) {
    std::int64_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        const fs::file_status status = entry.symlink_status();
        check(fs::is_directory(status) || fs::is_regular_file(status), "links are not unpacked");
        count += fs::is_regular_file(status) ? 1 : 0;
    }
    return count;
}

}    // namespace

std::string run_unpack(std::span<const std::byte> input) {
    const TempFolder folder;
    const fs::path upload = folder.write("inside/upload", text_of(input));
    const fs::path to = folder.path() / "inside" / "folder";
    std::string said;
    std::int64_t files = 0;
    try {
        const UnpackReport report = unpack(
            upload, "upload.bin", to, {.bytes_max = 1 << 20, .entries_max = 100, .durable = false});
        files = report.files;
        check(plain_files(to) == files, "the report counts the files");
        said = fmt::format("{} files, {} bytes{}", report.files, report.bytes,
                           report.archive ? "" : ", kept as it is");
    } catch (const Error& error) {    // the allowed end; what else is thrown is a bug
        check(error.code() != ErrorCode::internal, "an upload is never our fault");
        check(!fs::exists(to), "a refused upload leaves nothing");
        said = error.what();
    }
    check(plain_files(folder.path()) == files + 1, "nothing is written elsewhere");
    return said;
}

}    // namespace slipway

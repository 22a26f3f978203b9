#include "executor/data/formats/archive_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "api/base/error.h"

namespace slipway {
namespace {

// Goal: each function is the one that its name says.
// Method: the library that the test is linked with has them under their names.
TEST(ArchiveLibrary, has_the_functions_of_the_library) {
    const ArchiveLibrary& library = archive_library();
    EXPECT_EQ(library.read_new, &archive_read_new);
    EXPECT_EQ(library.read_free, &archive_read_free);
    EXPECT_EQ(library.read_data, &archive_read_data);
    EXPECT_EQ(library.read_next_header, &archive_read_next_header);
    EXPECT_EQ(library.entry_hardlink, &archive_entry_hardlink);
    EXPECT_EQ(library.entry_symlink, &archive_entry_symlink);
    EXPECT_EQ(library.entry_is_encrypted, &archive_entry_is_encrypted);
    const std::unique_ptr<archive, FreeArchive> handle(library.read_new());
    EXPECT_NE(handle, nullptr);
}

TEST(ArchiveLibrary, a_library_that_is_not_there_or_is_another_one_is_refused) {
    for (const auto& [file, named] :
         {std::pair("libnone.so.9", "libnone.so.9"), std::pair("libm.so.6", "archive_")}) {
        try {
            load_archive_library(file);
            FAIL() << file;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::unavailable);
            EXPECT_THAT(error.what(), testing::HasSubstr(named));
        }
    }
}

}    // namespace
}    // namespace slipway

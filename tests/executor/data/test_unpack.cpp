#include "executor/data/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/executor/data/formats/make_tar.h"
#include "tests/executor/data/make_files.h"
#include "tests/support/temp_folder.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

struct Entry {
    std::string name;
    std::string content = {};
    unsigned type = AE_IFREG;
    std::string link = {};
    bool hard = false;
};

std::string archive_of(const std::vector<Entry>& entries, bool zip, bool gzip = false) {
    archive* writer = archive_write_new();
    if (zip) {
        archive_write_set_format_zip(writer);
    } else {
        archive_write_set_format_pax_restricted(writer);
        if (gzip) archive_write_add_filter_gzip(writer);
    }
    std::string file(16 << 20, '\0');
    std::size_t used = 0;
    archive_write_open_memory(writer, file.data(), file.size(), &used);
    for (const Entry& entry : entries) {
        archive_entry* header = archive_entry_new();
        archive_entry_set_pathname(header, entry.name.c_str());
        archive_entry_set_filetype(header, entry.type);
        archive_entry_set_perm(header, 0777);
        archive_entry_set_size(header, std::int64_t(entry.content.size()));
        if (!entry.link.empty() && entry.hard)
            archive_entry_set_hardlink(header, entry.link.c_str());
        if (!entry.link.empty() && !entry.hard)
            archive_entry_set_symlink(header, entry.link.c_str());
        archive_write_header(writer, header);
        archive_write_data(writer, entry.content.data(), entry.content.size());
        archive_entry_free(header);
    }
    archive_write_close(writer);
    archive_write_free(writer);
    file.resize(used);
    return file;
}

struct Upload {
    TempFolder folder;
    fs::path target = folder.path() / "set";

    UnpackReport unpack(const std::string& content, const std::string& name = "upload",
                        UnpackLimits limits = {}) const {
        limits.durable = false;    // waits for everybody's files
        return slipway::unpack(folder.write("upload", content), name, target, limits);
    }
    /// The error, after checking that nothing is left.
    ErrorCode refusal(const std::string& content, const std::string& name = "upload",
                      const UnpackLimits& limits = {}) const {
        const ErrorCode code = error_code_of([&] { unpack(content, name, limits); });
        EXPECT_FALSE(fs::exists(target));
        EXPECT_FALSE(fs::exists(target.string() + ".tmp"));
        return code;
    }
};

}    // namespace

TEST(Unpack, zip_tar_and_gzipped_tar_give_their_files) {
    const std::vector<Entry> entries = {{"train/", "", AE_IFDIR},
                                        {"train/a.txt", "one"},
                                        {"./val/b.txt", "two"},
                                        {"val/.DS_Store", "junk"},
                                        {"__MACOSX/val/b.txt", "junk"}};
    for (const auto& [zip, gzip] : {std::pair(true, false), {false, false}, {false, true}}) {
        const Upload upload;
        const UnpackReport report = upload.unpack(archive_of(entries, zip, gzip));
        EXPECT_TRUE(report.archive);
        EXPECT_EQ(report.files, 2);
        EXPECT_EQ(report.bytes, 6);
        EXPECT_EQ(read_file(upload.target / "train/a.txt"), "one");
        EXPECT_EQ(read_file(upload.target / "val/b.txt"), "two");
        EXPECT_EQ(fs::status(upload.target / "train/a.txt").permissions(), fs::perms(0644));
        EXPECT_FALSE(fs::exists(upload.target / "__MACOSX"));
    }
}

TEST(Unpack, one_folder_around_everything_is_left_out) {
    const Upload upload;
    upload.unpack(archive_of({{"photos/cat/1.jpg", "x"}, {"photos/dog/2.jpg", "y"}}, true));
    EXPECT_EQ(read_file(upload.target / "cat/1.jpg"), "x");
}

TEST(Unpack, anything_else_is_one_file_kept_as_it_is) {
    for (const std::string& content : {std::string("x,label\n1,a\n"), gzipped("x,label\n"),
                                       std::string(), std::string(600, '\0')}) {
        const Upload upload;
        const UnpackReport report = upload.unpack(content, "table.csv.gz");
        EXPECT_FALSE(report.archive);
        EXPECT_EQ(report.files, 1);
        EXPECT_EQ(read_file(upload.target / "table.csv.gz"), content);
    }
}

TEST(Unpack, archives_of_other_kinds_are_refused_by_name) {
    using namespace std::string_literals;
    for (const auto& [begin, kind] :
         std::vector<std::pair<std::string, std::string>>{{"\xFD"
                                                           "7zXZ\0\0\4"s,
                                                           "xz"},
                                                          {"BZh91AY&SY\x01", "bzip2"},
                                                          {"7z\xBC\xAF\x27\x1C\0"s, "7-Zip"},
                                                          {"Rar!\x1A\x07\x01\0"s, "RAR"},
                                                          {"\x28\xB5\x2F\xFD\x04", "Zstandard"}}) {
        const Upload upload;
        EXPECT_EQ(upload.refusal(begin), ErrorCode::data_loss) << kind;
        try {
            upload.unpack(begin);
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find(kind), std::string::npos) << error.what();
        }
    }
    for (const char* text : {"BZhang wrote this", "Rar!", "LZIP is a format", "7z"}) {
        const Upload upload;
        EXPECT_FALSE(upload.unpack(text).archive) << text;
    }
}

TEST(Unpack, an_encrypted_archive_is_called_that) {
    std::string file = archive_of({{"a.csv", "x,label\n1,a\n"}}, true);
    file[6] = char(file[6] | 1);    // general purpose flag: encrypted
    const std::size_t entry = file.find("PK\1\2");
    file[entry + 8] = char(file[entry + 8] | 1);
    const Upload upload;
    try {
        upload.unpack(file);
        ADD_FAILURE();
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("encrypted"), std::string::npos) << error.what();
    }
}

TEST(Unpack, entries_that_reach_elsewhere_are_refused) {
    const std::vector<Entry> bad = {
        {"/etc/slipway-test", "x"},     {"../out.txt", "x"},
        {"a/../../out.txt", "x"},       {"a\\..\\out.txt", "x"},
        {"link", "", AE_IFLNK, "/etc"}, {"link", "", AE_IFREG, "good.txt", true},
        {"pipe", "", AE_IFIFO},         {"device", "", AE_IFCHR},
        {"good.txt", "twice"},          {"good.txt/below", "x"},
        {std::string(300, 'n'), "x"},
    };
    for (const Entry& entry : bad) {
        for (const bool zip : {true, false}) {
            if (zip && (entry.hard || entry.type == AE_IFIFO || entry.type == AE_IFCHR)) continue;
            EXPECT_EQ(Upload().refusal(archive_of({{"good.txt", "x"}, entry}, zip)),
                      ErrorCode::data_loss)
                << entry.name;
        }
    }
}

TEST(Unpack, a_name_that_is_not_utf8_is_refused_escaped) {
    for (const bool zip : {true, false}) {
        const Upload foreign;
        foreign.unpack(archive_of({{"m\xC3\xB6ve/1.jpg", "x"}, {"cat/2.jpg", "y"}}, zip));
        EXPECT_EQ(read_file(foreign.target / "m\xC3\xB6ve/1.jpg"), "x");
    }
    const Upload upload;
    try {
        upload.unpack(archive_of({{"cat/2.jpg", "y"}, {"m\xF6ve/1.jpg", "x"}}, true));
        ADD_FAILURE() << "it was unpacked";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::data_loss);
        const std::string said = error.what();
        EXPECT_NE(said.find(R"("m\xf6ve/1.jpg": the name is not UTF-8)"), std::string::npos)
            << said;
        EXPECT_FALSE(fs::exists(upload.target));
    }
}

TEST(Unpack, names_in_pax_headers_are_utf8) {
    const std::string name = std::string(120, 'n') + "-\xc3\xa9.txt";
    const std::string record = fmt::format(" path={}\n", name);
    const std::string header = std::to_string(record.size() + 3) + record;
    const std::string archive = tar_file({{"pax", header, 'x'}, {"short.txt", "text", '0'}});
    const Upload upload;
    upload.unpack(archive);
    EXPECT_EQ(read_file(upload.target / name), "text");
}

TEST(Unpack, limits_hold_for_entries_bytes_and_ratio) {
    const std::string three =
        archive_of({{"a", "1"}, {"b", "2"}, {"c", std::string(5000, 'x')}}, true);
    EXPECT_EQ(Upload().refusal(three, "upload", {.entries_max = 2}), ErrorCode::exhausted);
    EXPECT_EQ(Upload().refusal(three, "upload", {.bytes_max = 5000}), ErrorCode::exhausted);
    EXPECT_EQ(Upload().refusal(std::string(5000, 'x'), "upload", {.bytes_max = 4999}),
              ErrorCode::exhausted);
    const std::string bomb = archive_of({{"zeros", std::string(80 << 20, '\0')}}, false, true);
    EXPECT_LT(bomb.size(), 1U << 20);
    EXPECT_EQ(Upload().refusal(bomb), ErrorCode::exhausted);
}

// Goal: an upload leaves others of the disk what they need.
// Method: a reserve that no disk has.
TEST(Unpack, what_must_stay_free_of_the_disk_stays_free) {
    const std::string archive = archive_of({{"a", "1"}, {"b", "2"}}, true);
    const UnpackLimits no_bytes{.free_bytes_min = std::int64_t{1} << 60};
    const UnpackLimits no_inodes{.free_inodes_percent_min = 101};
    for (const UnpackLimits& limits : {no_bytes, no_inodes}) {
        for (const std::string& content : {archive, std::string("x,y\n1,2\n")}) {
            const Upload upload;
            EXPECT_EQ(upload.refusal(content, "upload", limits), ErrorCode::exhausted);
            EXPECT_FALSE(fs::exists(upload.target));
        }
    }
}

// 3.3 kB of a gzipped tar made 100,000 folders.
TEST(Unpack, folders_count_as_entries_and_are_at_most_32_deep) {
    const auto deep = [](int folders) {
        std::string name;
        for (int i = 0; i < folders; ++i)
            name += "d/";
        return archive_of({{name + "x", "1"}, {"y", "2"}}, false, true);
    };
    const Upload upload;
    upload.unpack(deep(32));
    EXPECT_EQ(Upload().refusal(deep(33)), ErrorCode::data_loss);
    const std::string three = archive_of({{"a/b/x", "1"}, {"a/c/y", "2"}}, true);
    const Upload five_entries;    // two files, three folders
    five_entries.unpack(three, "upload", {.entries_max = 5});
    EXPECT_EQ(Upload().refusal(three, "upload", {.entries_max = 4}), ErrorCode::exhausted);
}

TEST(Unpack, a_damaged_archive_inputs_nothing) {
    const std::string zip = archive_of({{"a.txt", std::string(3000, 'a')}, {"b.txt", "b"}}, true);
    for (std::size_t i = 0; i < zip.size(); i += 7) {
        for (const std::string& damaged : {zip.substr(0, i), with_flipped_byte(zip, i)}) {
            const Upload upload;
            try {
                upload.unpack(damaged);
            } catch (const Error& error) {    // damage may also hit a byte that means nothing
                EXPECT_EQ(error.code(), ErrorCode::data_loss);
                EXPECT_FALSE(fs::exists(upload.target));
            }
            EXPECT_FALSE(fs::exists(upload.target.string() + ".tmp"));
        }
    }
    const std::string tar = archive_of({{"a.txt", std::string(3000, 'a')}}, false, true);
    EXPECT_EQ(Upload().refusal(tar.substr(0, tar.size() - 12)), ErrorCode::data_loss);
    EXPECT_EQ(Upload().refusal(archive_of({{"d/", "", AE_IFDIR}}, true)), ErrorCode::data_loss);
}

TEST(Unpack, the_name_and_the_folder_must_be_usable) {
    for (const std::string& name :
         {std::string(), std::string("."), std::string(".."), std::string("a/b"),
          std::string(".hidden"), std::string("a\0b", 3), std::string(256, 'n')}) {
        EXPECT_EQ(Upload().refusal("x", name), ErrorCode::invalid_argument);
    }
    const Upload upload;
    unpack(upload.folder.write("x", "x"), "x", upload.target);    // durable, as in service
    EXPECT_EQ(error_code_of([&] { upload.unpack("x"); }), ErrorCode::conflict);
    EXPECT_EQ(error_code_of([&] { unpack("/nonexistent", "x", upload.target / "y"); }),
              ErrorCode::not_found);
}

TEST(Unpack, a_tar_that_is_data_is_kept_and_a_zip_of_such_is_not) {
    const std::string tar = archive_of({{"a.txt", "one"}, {"b.txt", "two"}}, false);
    const Upload upload;
    const UnpackReport report = upload.unpack(tar, "train.tar", {.kept = KeptArchive::tar});
    EXPECT_FALSE(report.archive);
    EXPECT_EQ(read_file(upload.target / "train.tar"), tar);
    const Upload several;
    EXPECT_TRUE(several
                    .unpack(archive_of({{"1.tar", tar}, {"2.tar", tar}}, true), "shards.zip",
                            {.kept = KeptArchive::tar})
                    .archive);
    EXPECT_EQ(read_file(several.target / "2.tar"), tar);
}

TEST(Unpack, a_zip_that_is_data_is_kept_and_a_tar_of_such_is_not) {
    const std::string zip = archive_of({{"x.npy", "one"}, {"y.npy", "two"}}, true);
    const Upload upload;
    EXPECT_FALSE(upload.unpack(zip, "train.npz", {.kept = KeptArchive::zip}).archive);
    EXPECT_EQ(read_file(upload.target / "train.npz"), zip);
    const Upload several;
    EXPECT_TRUE(several
                    .unpack(archive_of({{"1.npz", zip}, {"2.npz", zip}}, false), "sets.tar",
                            {.kept = KeptArchive::zip})
                    .archive);
    EXPECT_EQ(read_file(several.target / "2.npz"), zip);
}

}    // namespace slipway

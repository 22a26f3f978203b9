#include <fmt/core.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "executor/data/dataset.h"
#include "executor/data/inspect.h"
#include "tests/executor/data/make_files.h"
#include "tests/support/temp_folder.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

/// Two classes of two images of 6 x 4.
struct ImageFolder {
    TempFolder folder;
    ImageFolder() {
        folder.write("cat/b.PNG", png_file(patterned_image(3, 6, 4, 1)));
        folder.write("cat/deep/a.png", png_file(patterned_image(3, 6, 4, 2)));
        folder.write("dog/c.jpeg", jpeg_file(patterned_image(3, 6, 4, 3)));
        folder.write("dog/d.png", png_file(patterned_image(1, 6, 4, 4)));
        folder.write("dog/.hidden.png", "no image");
        folder.write("dog/Thumbs.db", "no image");
    }
    std::unique_ptr<Dataset> open(const DatasetOptions& options = {}) const {
        return open_dataset("image_folder", folder.path(), options);
    }
};

/// A table of three images.
struct ImageTable {
    TempFolder folder;
    std::string rows = "images/0.png,7,serif\nimages/1.png,A,sans\nimages/2.png,7,sans\n";
    ImageTable() {
        for (int i = 0; i < 3; ++i) {
            folder.write("images/" + std::to_string(i) + ".png",
                         png_file(patterned_image(1, 5, 5, i)));
        }
    }
    std::unique_ptr<Dataset> open(const DatasetOptions& options = {
                                      .group_column = "family"}) const {
        folder.write("labels.csv", "file,label,family\n" + rows);
        return open_dataset("image_csv", folder.path(), options);
    }
    DataProblem problem() const {
        return data_problem_of([&] { open(); });
    }
};

}    // namespace

TEST(ImageFolder, folders_are_classes) {
    const ImageFolder set;
    const auto dataset = set.open();
    EXPECT_EQ(dataset->index().class_names, (std::vector<std::string>{"cat", "dog"}));
    EXPECT_EQ(dataset->index().labels, (std::vector<std::int32_t>{0, 0, 1, 1}));
    EXPECT_EQ(dataset->index().feature_dims, (Dims{3, 6, 4}));
    EXPECT_EQ(dataset->place(1).file, "cat/deep/a.png");
    EXPECT_EQ(dataset->files().size(), 4U);
}

TEST(ImageFolder, pixels_become_planes_between_0_and_1) {
    const ImageFolder set;
    const Image image = patterned_image(3, 6, 4, 1);
    const std::vector<float> features = features_of(*set.open(), 0);
    for (std::size_t i = 0; i < 24; ++i) {
        for (std::size_t channel = 0; channel < 3; ++channel) {
            EXPECT_EQ(features[channel * 24 + i], float(image.pixels[i * 3 + channel]) / 255.0F);
        }
    }
}

TEST(ImageFolder, parts_are_known_by_their_names) {
    TempFolder folder;
    for (const std::string name : {"train/x/1.png", "train/y/2.png", "val/x/3.png"}) {
        folder.write(name, png_file(patterned_image(1, 2, 2)));
    }
    const auto dataset = open_dataset("image_folder", folder.path());
    EXPECT_EQ(dataset->index().part_names, (std::vector<std::string>{"train", "val"}));
    EXPECT_EQ(dataset->index().parts, (std::vector<std::int32_t>{0, 0, 1}));
    EXPECT_EQ(dataset->index().class_names, (std::vector<std::string>{"x", "y"}));
    EXPECT_EQ(dataset->index().labels, (std::vector<std::int32_t>{0, 1, 0}));
}

// Goal: one gray image among others does not make all of them gray, wherever it is.
TEST(ImageFolder, is_in_colour_when_any_image_is) {
    for (const int gray_place : {0, 1, 2}) {
        const TempFolder folder;
        for (int i = 0; i < 3; ++i)
            folder.write("x/" + std::to_string(i) + ".png",
                         png_file(patterned_image(i == gray_place ? 1 : 3, 4, 4)));
        const auto dataset = open_dataset("image_folder", folder.path());
        EXPECT_EQ(dataset->index().feature_dims, (Dims{3, 4, 4})) << gray_place;
        EXPECT_EQ(
            open_dataset("image_folder", folder.path(), {.channels = 1})->index().feature_dims,
            (Dims{1, 4, 4}));
    }
    const TempFolder many;    // several blocks; the last header is behind 10,000 bytes of a comment
    for (int i = 0; i < 600; ++i)
        many.write(fmt::format("x/{:03}.png", i), png_file(patterned_image(1, 4, 4)));
    EXPECT_EQ(open_dataset("image_folder", many.path())->index().feature_dims, (Dims{1, 4, 4}));
    std::string late = jpeg_file(patterned_image(3, 4, 4));
    late.insert(2, std::string("\xFF\xFE\x27\x12", 4) + std::string(10'000, ' '));
    many.write("x/last.jpg", late);
    EXPECT_EQ(open_dataset("image_folder", many.path())->index().feature_dims, (Dims{3, 4, 4}));

    const TempFolder gray;
    gray.write("x/1.png", png_file(patterned_image(1, 4, 4)));
    gray.write("x/2.jpg", jpeg_file(patterned_image(1, 4, 4)));
    gray.write("x/3.png", "damaged");
    EXPECT_EQ(open_dataset("image_folder", gray.path())->index().feature_dims, (Dims{1, 4, 4}));
}

TEST(ImageFolder, the_cache_gives_the_same_numbers_from_every_thread) {
    const ImageFolder set;
    const auto cached = set.open({.image_size = 8});
    const auto uncached = set.open({.image_size = 8, .cache_bytes_max = 0});
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&] {
            for (int round = 0; round < 20; ++round) {
                for (std::int64_t sample = 0; sample < 4; ++sample) {
                    EXPECT_EQ(features_of(*cached, sample), features_of(*uncached, sample));
                }
            }
        });
    }
}

TEST(ImageFolder, cached_images_are_not_read_again) {
    const ImageFolder set;
    const auto dataset = set.open({.image_size = 8});
    const std::vector<float> before = features_of(*dataset, 0);
    fs::remove(set.folder.path() / "cat/b.PNG");
    EXPECT_EQ(features_of(*dataset, 0), before);
    fs::remove(set.folder.path() / "dog/d.png");
    EXPECT_EQ(data_problem_of([&] { features_of(*dataset, 3); }).file, "dog/d.png");
}

TEST(ImageFolder, images_of_different_sizes_need_an_image_size) {
    const ImageFolder set;
    set.folder.write("dog/e.png", png_file(patterned_image(3, 9, 4)));
    const auto dataset = set.open();
    const DataProblem problem = data_problem_of([&] { features_of(*dataset, 4); });
    EXPECT_EQ(problem.file, "dog/e.png");
    EXPECT_NE(problem.message.find("image_size"), std::string::npos);
    EXPECT_EQ(features_of(*set.open({.image_size = 5, .channels = 1}), 4).size(), 25U);
}

TEST(ImageFolder, a_truncated_image_is_named) {
    const ImageFolder set;
    const std::string file = jpeg_file(patterned_image(3, 6, 4));
    set.folder.write("dog/c.jpeg", file.substr(0, file.size() - 20));
    const auto dataset = set.open();
    EXPECT_EQ(data_problem_of([&] { features_of(*dataset, 2); }).file, "dog/c.jpeg");
    set.folder.write("cat/b.PNG", "");    // the first is looked at when opening
    EXPECT_EQ(data_problem_of([&] { set.open(); }).file, "cat/b.PNG");
}

// Goal: accepted damage keeps what there was before it, is gray behind it and is told once.
TEST(ImageFolder, damage_is_accepted_when_it_is_asked_for) {
    const ImageFolder set;
    Image white{3, 64, 48, std::vector<std::uint8_t>(std::size_t(3 * 64 * 48), 255)};
    for (std::size_t i = 0; i < white.pixels.size(); i += 5)
        white.pixels[i] = 250;    // flat files are too short to be cut in the middle
    const std::string whole = jpeg_file(white);
    set.folder.write("dog/c.jpeg", whole.substr(0, whole.size() / 2));
    set.folder.write("dog/d.png", "\x89PNG, but no more");
    const auto dataset = set.open(
        {.image_size = 16, .truncated_images = TruncatedImages::accept, .cache_bytes_max = 0});
    const std::vector<float> cut = features_of(*dataset, 2);
    EXPECT_GT(cut[0], 0.9F);               // the first row is there
    EXPECT_NEAR(cut[255], 0.5F, 0.02F);    // the last is not
    for (const float value : features_of(*dataset, 3))
        EXPECT_EQ(value, 127 / 255.0F);
    features_of(*dataset, 2);
    const std::vector<DataProblem> told = dataset->take_accepted();
    ASSERT_EQ(told.size(), 2U);
    EXPECT_EQ(told[0].file, "dog/c.jpeg");
    EXPECT_EQ(told[1].file, "dog/d.png");
    EXPECT_TRUE(dataset->take_accepted().empty());
    EXPECT_EQ(dataset->damage(2)->file, "dog/c.jpeg");
    EXPECT_FALSE(dataset->damage(0));
}

TEST(ImageFolder, refuses_folders_that_are_not_classes_of_images) {
    TempFolder empty;
    data_problem_of([&] { open_dataset("image_folder", empty.path()); });
    EXPECT_EQ(error_code_of([&] { open_dataset("image_folder", empty.path() / "none"); }),
              ErrorCode::not_found);
    const std::string image = png_file(patterned_image(1, 2, 2));
    for (const auto& [name, bad] :
         {std::pair("loose.png", "loose.png"), std::pair("dog/e.gif", "dog/e.gif"),
          std::pair("bird/notes.txt", "bird")}) {
        const ImageFolder set;
        set.folder.write(name, image);
        EXPECT_EQ(data_problem_of([&] { set.open(); }).file, bad);
    }
    const ImageFolder set;
    EXPECT_EQ(data_problem_of([&] {
                  set.open({.class_names = {"cat", "bird"}});
              }).file,
              "dog/c.jpeg");
}

TEST(ImageFolder, names_that_are_not_utf8_are_refused_escaped) {
    for (const char* name : {"m\xF6ve/1.png", "cat/m\xF6ve.png"}) {
        const TempFolder folder;
        folder.write("cat/1.png", png_file(patterned_image(1, 4, 4)));
        folder.write(name, png_file(patterned_image(1, 4, 4)));
        const DataProblem problem =
            data_problem_of([&] { open_dataset("image_folder", folder.path()); });
        EXPECT_NE(problem.file.find(R"(m\xf6ve)"), std::string::npos) << problem.file;
        EXPECT_TRUE(says(problem, "the name is not UTF-8")) << problem.message;
    }
}

TEST(ImageFolder, links_out_of_the_folder_are_refused) {
    TempFolder outside;
    const fs::path secret = outside.write("secret.png", png_file(patterned_image(1, 2, 2)));
    const ImageFolder set;
    fs::create_symlink(secret, set.folder.path() / "cat/a.png");
    EXPECT_EQ(data_problem_of([&] { set.open(); }).file, "cat/a.png");
}

// Goal: a link that leads nowhere or out of the folder is a problem of its own, called a link, and
// hides no other; one to a folder is a warning.
TEST(ImageFolder, each_link_that_is_not_followed_is_named) {
    const TempFolder outside;
    const ImageFolder set;
    const fs::path folder = set.folder.path();
    set.folder.write("cat/empty.png", "");
    fs::create_symlink("gone.png", folder / "cat/x.png");
    fs::create_symlink(outside.write("secret.png", "x"), folder / "dog/y.png");
    fs::create_symlink("cat", folder / "lion");
    fs::create_symlink("b.PNG", folder / "cat/z.png");    // inside: an image like others
    const nlohmann::json report = inspect_dataset("image_folder", folder);
    std::map<std::string, std::string> problems;
    for (const nlohmann::json& problem : report["problems"])
        problems[problem["file"]] = problem["message"];
    EXPECT_EQ(problems.size(), 3U) << report["problems"];
    EXPECT_EQ(problems["cat/x.png"], "it is a link to gone.png, which does not exist");
    EXPECT_TRUE(problems["dog/y.png"].starts_with("it is a link to /")) << problems["dog/y.png"];
    EXPECT_NE(report["warnings"].dump().find("lion\\\" (a link to a folder)"), std::string::npos)
        << report["warnings"];
    EXPECT_TRUE(problems.contains("cat/empty.png"));

    const TempFolder tables;
    tables.write("t.csv", "x,label\n1,a\n2,b\n");
    tables.write("deep/u.txt", "");
    fs::create_symlink("deep", tables.path() / "shallow");
    EXPECT_NE(inspect_dataset("csv", tables.path())["warnings"].dump().find("a link to a folder"),
              std::string::npos);
}

TEST(ImageCsv, a_file_has_one_row_whatever_its_spelling) {
    for (const char* spelling : {"./images/0.png", "images//0.png", "images/../images/0.png"}) {
        ImageTable table;
        table.rows += std::string(spelling) + ",7,sans\n";
        EXPECT_TRUE(says(table.problem(), "is listed already in row 2")) << spelling;
    }
    ImageTable absolute;
    absolute.rows += (absolute.folder.path() / "images/0.png").string() + ",7,sans\n";
    EXPECT_TRUE(says(absolute.problem(), "absolute path")) << absolute.problem().message;
}

TEST(ImageCsv, rows_name_files_labels_and_groups) {
    const ImageTable table;
    const auto dataset = table.open();
    EXPECT_EQ(dataset->index().class_names, (std::vector<std::string>{"7", "A"}));
    EXPECT_EQ(dataset->index().labels, (std::vector<std::int32_t>{0, 1, 0}));
    EXPECT_EQ(dataset->index().group_names, (std::vector<std::string>{"sans", "serif"}));
    EXPECT_EQ(dataset->index().groups, (std::vector<std::int32_t>{1, 0, 0}));
    EXPECT_EQ(dataset->index().group_column, "family");
    EXPECT_EQ(dataset->files().size(), 4U);    // the table is one
    EXPECT_TRUE(table.open({})->index().groups.empty());
}

TEST(ImageCsv, columns_and_table_can_have_other_names) {
    const ImageTable table;
    table.folder.write("meta/table.csv", "kind,path\ncat,images/1.png\n");
    const auto dataset = table.open(
        {.label_column = "kind", .file_column = "path", .labels_file = "meta/table.csv"});
    EXPECT_EQ(dataset->place(0).file, "images/1.png");
}

TEST(ImageCsv, a_bad_row_is_named_by_row_and_field) {
    struct Case {
        std::string row;
        std::string field;
        std::string message_part;
    };
    const std::vector<Case> cases = {
        {"images/9.png,7,sans", "file", "does not exist"},
        {"/etc/passwd,7,sans", "file", "absolute path"},
        {"../labels.csv,7,sans", "file", "points outside"},
        {"images/../../x.png,7,sans", "file", "points outside"},
        {"images,7,sans", "file", "regular file"},
        {",7,sans", "file", "empty"},
        {"images/1.png,7,sans", "file", "row 3"},    // listed twice
        {"images/1.png,,sans", "label", "empty"},
        {"images/1.png,7,", "family", "empty"},
        {"images/1.png,7", "", "2 fields"},
    };
    for (const Case& c : cases) {
        ImageTable table;
        table.rows += c.row + "\n";
        const DataProblem problem = table.problem();
        EXPECT_EQ(problem.file, "labels.csv");
        EXPECT_EQ(problem.row, 5) << c.row;
        EXPECT_EQ(problem.field, c.field) << c.row;
        EXPECT_NE(problem.message.find(c.message_part), std::string::npos) << problem.message;
    }
}

TEST(ImageCsv, a_link_out_of_the_folder_is_refused) {
    TempFolder outside;
    const fs::path secret = outside.write("secret.png", png_file(patterned_image(1, 5, 5)));
    ImageTable table;
    fs::create_symlink(secret, table.folder.path() / "images/link.png");
    table.rows += "images/link.png,7,sans\n";
    EXPECT_EQ(table.problem().row, 5);
}

// Goal: a row cannot ask where a link outside of the folder leads.
TEST(ImageCsv, targets_of_links_outside_are_not_disclosed) {
    const TempFolder outside;
    ImageTable table;
    const fs::path folder = table.folder.path();
    fs::create_symlink("/hidden/target", outside.path() / "link.png");
    const std::string beside = (fs::path("..") / outside.path().filename() / "link.png").string();
    for (const std::string& name :
         {std::string("../../../../../../proc/self/exe"), beside, std::string("door/link.png")}) {
        ImageTable asking;
        fs::create_symlink(outside.path(), asking.folder.path() / "door");
        asking.rows += name + ",7,sans\n";
        EXPECT_TRUE(says(asking.problem(), "the name points outside the dataset's folder"))
            << asking.problem().message;
        EXPECT_FALSE(says(asking.problem(), "link to")) << asking.problem().message;
    }
    fs::create_symlink("/proc/self/exe", folder / "images/link.png");    // the dataset's own
    table.rows += "images/link.png,7,sans\n";
    EXPECT_TRUE(says(table.problem(), "it is a link to /proc/self/exe, outside"))
        << table.problem().message;
}

TEST(ImageCsv, the_table_itself_must_be_inside_and_have_its_columns) {
    const ImageTable table;
    EXPECT_EQ(data_problem_of([&] { table.open({.labels_file = "../labels.csv"}); }).file,
              "../labels.csv");
    EXPECT_EQ(data_problem_of([&] { table.open({.labels_file = "none.csv"}); }).file, "none.csv");
    EXPECT_EQ(data_problem_of([&] { table.open({.group_column = "fam"}); }).field, "fam");
    ImageTable empty;
    empty.rows = "";
    EXPECT_EQ(empty.problem().file, "labels.csv");
}

// Goal: real photos, of every colour space and quirk that cameras write, are read.
TEST(Photos, all_decode_at_a_common_size) {
    if (test_data_folder().empty()) GTEST_SKIP() << "needs the test data";
    const auto dataset =
        open_dataset("image_folder", test_data_folder() / "photos", {.image_size = 32});
    EXPECT_EQ(dataset->size(), 120);
    EXPECT_EQ(dataset->index().class_names, (std::vector<std::string>{"ants", "bees"}));
    EXPECT_EQ(dataset->index().part_names, (std::vector<std::string>{"train", "val"}));
    EXPECT_EQ(dataset->index().feature_dims, (Dims{3, 32, 32}));
    for (std::int64_t i = 0; i < dataset->size(); i += 10)
        EXPECT_EQ(features_of(*dataset, i).size(), 3072U);
}

TEST(Photos, an_inspection_finds_nothing_wrong_and_the_sizes) {
    if (test_data_folder().empty()) GTEST_SKIP() << "needs the test data";
    const nlohmann::json report = inspect_dataset("image_folder", test_data_folder() / "photos");
    EXPECT_EQ(report["problem_count"], 0) << report["problems"].dump(2);
    EXPECT_EQ(report["samples"], 120);
    EXPECT_TRUE(report["feature_shape"].is_null());
    EXPECT_LT(report["image_sizes"]["min"][0], report["image_sizes"]["max"][0]);
    EXPECT_EQ(report["mean"].size(), 3U);
}

TEST(Photos, a_damaged_copy_is_found_by_name) {
    if (test_data_folder().empty()) GTEST_SKIP() << "needs the test data";
    TempFolder folder;
    for (const std::string kind : {"ants", "bees"}) {
        const fs::path from = test_data_folder() / "photos" / "train" / kind;
        int copied = 0;
        for (const auto& entry : fs::directory_iterator(from)) {
            if (++copied > 3) break;
            folder.write(kind + "/" + std::to_string(copied) + ".jpg", read_file(entry.path()));
        }
    }
    const std::string whole = read_file(folder.path() / "bees/2.jpg");
    folder.write("bees/2.jpg", whole.substr(0, whole.size() / 2));
    const nlohmann::json report =
        inspect_dataset("image_folder", folder.path(), {.image_size = 64});
    EXPECT_EQ(report["problem_count"], 1);
    EXPECT_EQ(report["problems"][0]["file"], "bees/2.jpg");
    EXPECT_TRUE(report["problems"][0]["row"].is_null());
    const auto dataset = open_dataset("image_folder", folder.path(), {.image_size = 64});
    EXPECT_EQ(data_problem_of([&] { features_of(*dataset, 4); }).file, "bees/2.jpg");
}

}    // namespace slipway

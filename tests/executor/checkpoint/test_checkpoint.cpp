#include "executor/checkpoint/checkpoint.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>

#include "api/base/sha256.h"
#include "tests/support/temp_folder.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

Checkpoint checkpoint_at(std::int64_t step) {
    const auto value = float(step) / 3;
    return {
        .state = {.step = step,
                  .epoch = 2,
                  .samples = step * 32,
                  .seed = 0xFFFFFFFFFFFFFFFF,
                  .sampler_epoch = 2,
                  .sampler_batch = 17,
                  .schedule = "cosine",
                  .learning_rate = 1.0 / 3,
                  .details = R"({"best":{"step":3,"value":0.1},"sum":[1,2]})"},
        .weights = {{"fc.weight", array_of<float>({2}, std::array{value, -value})},
                    {"fc.bias", array_of<float>({1}, std::array{0.5F})}},
        .optimizer = {{"fc.weight.momentum", array_of<float>({2}, std::array{1.0F, 2.0F})}},
        .files = {{"vocab.txt", "[PAD]\n[UNK]\n"}},
        .writer = {.program = "slipway-executor 0.1.0", .build = "ab12"},
    };
}

void expect_same(const std::vector<NamedArray>& a, const std::vector<NamedArray>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        EXPECT_EQ(a[i].name, b[i].name);
        EXPECT_EQ(a[i].array.shape(), b[i].array.shape());
        EXPECT_EQ(std::memcmp(a[i].array.bytes(), b[i].array.bytes(),
                              std::size_t(a[i].array.byte_count())),
                  0);
    }
}

ErrorCode save_refusal(const fs::path& folder, const std::string& name) {
    try {
        save_checkpoint(folder, name, checkpoint_at(1));
    } catch (const Error& error) {    // the test looks at what was thrown
        return error.code();
    }
    return ErrorCode::internal;
}

std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) {
        names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

}    // namespace

TEST(Checkpoint, what_is_saved_is_loaded_again) {
    const TempFolder folder;
    const Checkpoint saved = checkpoint_at(500);
    const std::vector<WrittenFile> files =
        save_checkpoint(folder.path() / "job/deep", "step_000500_attempt_1", saved);
    const fs::path path = folder.path() / "job/deep/step_000500_attempt_1";
    ASSERT_EQ(files.size(), 4U);
    for (const WrittenFile& file : files) {
        EXPECT_EQ(file.sha256, sha256_file(path / file.name));
        EXPECT_EQ(file.bytes, std::int64_t(fs::file_size(path / file.name)));
    }
    EXPECT_EQ(names_in(path),
              (std::vector<std::string>{"model.safetensors", "optimizer.safetensors", "state.json",
                                        "vocab.txt"}));
    EXPECT_EQ(names_in(folder.path() / "job/deep").size(), 1U);

    const Result<Checkpoint> loaded = load_checkpoint(path);
    ASSERT_TRUE(loaded) << loaded.error().what();
    expect_same(loaded->weights, saved.weights);
    expect_same(loaded->optimizer, saved.optimizer);
    ASSERT_EQ(loaded->files.size(), 1U);
    EXPECT_EQ(loaded->files[0].name, "vocab.txt");
    EXPECT_EQ(loaded->files[0].bytes, saved.files[0].bytes);
    EXPECT_EQ(loaded->writer, saved.writer);
    const TrainingState &a = loaded->state, &b = saved.state;
    EXPECT_EQ(std::tie(a.step, a.epoch, a.samples, a.seed, a.sampler_epoch, a.sampler_batch),
              std::tie(b.step, b.epoch, b.samples, b.seed, b.sampler_epoch, b.sampler_batch));
    EXPECT_EQ(std::tie(a.schedule, a.learning_rate, a.details),
              std::tie(b.schedule, b.learning_rate, b.details));
}

// Goal: no damage to any byte of any file is taken for a checkpoint.
TEST(Checkpoint, every_flipped_byte_and_every_cut_is_found) {
    const TempFolder folder;
    save_checkpoint(folder.path(), "good", checkpoint_at(7));
    for (const std::string name :
         {"state.json", "model.safetensors", "optimizer.safetensors", "vocab.txt"}) {
        const fs::path file = folder.path() / "good" / name;
        const std::string bytes = read_file(file);
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            std::string flipped = bytes;
            flipped[i] = char(flipped[i] ^ (1 << (i % 7)));
            for (const std::string& damaged : {flipped, bytes.substr(0, i)}) {
                fs::remove(file);    // a file that is cut and rewritten would wait for the disk
                folder.write("good/" + name, damaged);
                const Result<Checkpoint> loaded = load_checkpoint(folder.path() / "good");
                if (loaded) {    // only blanks between values may differ
                    EXPECT_EQ(name, "state.json");
                    EXPECT_EQ(loaded->state.step, 7);
                } else {
                    EXPECT_EQ(loaded.error().code(), ErrorCode::data_loss) << name << i;
                }
            }
        }
        folder.write("good/" + name, bytes);
    }
    EXPECT_TRUE(load_checkpoint(folder.path() / "good"));
}

TEST(Checkpoint, a_missing_file_or_another_format_is_named) {
    const TempFolder folder;
    for (const std::string name : {"model.safetensors", "optimizer.safetensors", "vocab.txt"}) {
        save_checkpoint(folder.path(), name, checkpoint_at(1));
        fs::remove(folder.path() / name / name);
        const Result<Checkpoint> loaded = load_checkpoint(folder.path() / name);
        ASSERT_FALSE(loaded);
        EXPECT_EQ(loaded.error().code(), ErrorCode::data_loss);
        EXPECT_NE(std::string(loaded.error().what()).find(name), std::string::npos);
    }
    EXPECT_EQ(load_checkpoint(folder.path() / "none").error().code(), ErrorCode::not_found);
    const std::string content = R"({"files":[],"format_version":2,"state":{}})";
    folder.write("later/state.json",
                 R"({"content":)" + content + R"(,"sha256":")" + sha256_hex(content) + "\"}");
    EXPECT_EQ(load_checkpoint(folder.path() / "later").error().code(), ErrorCode::invalid_argument);
    EXPECT_EQ(find_newest_checkpoint(folder.path()).damaged.size(), 4U) << "it is told, too";
    const std::string spec =
        R"({"files":[],"format_version":1,"state":{},"written_by":{"build":"ab","format":1,)"
        R"("program":"slipway-executor 9.0.0","spec_version":2}})";
    folder.write("spec/state.json",
                 R"({"content":)" + spec + R"(,"sha256":")" + sha256_hex(spec) + "\"}");
    const Result<Checkpoint> of_later_spec = load_checkpoint(folder.path() / "spec");
    EXPECT_EQ(of_later_spec.error().code(), ErrorCode::invalid_argument);
    EXPECT_NE(std::string(of_later_spec.error().what()).find("written by slipway-executor 9.0.0"),
              std::string::npos);
    const std::string outside =
        R"({"files":[{"bytes":0,"name":"model.safetensors","sha256":""},)"
        R"({"bytes":0,"name":"optimizer.safetensors","sha256":""},)"
        R"({"bytes":0,"name":"../secret","sha256":""}],"format_version":1,"state":)"
        R"({"details":{},"epoch":0,"sampler":{"batch":0,"epoch":0},"samples":0,)"
        R"("schedule":{"learning_rate":0.0,"name":""},"seed":0,"step":0}})";
    folder.write("outside/state.json",
                 R"({"content":)" + outside + R"(,"sha256":")" + sha256_hex(outside) + "\"}");
    EXPECT_EQ(load_checkpoint(folder.path() / "outside").error().code(), ErrorCode::data_loss);
    for (const std::string text :
         {"", "{}", "[1]", R"({"content":{},"sha256":7})", R"({"content":[],"sha256":"x"})"}) {
        folder.write("odd/state.json", text);
        EXPECT_EQ(load_checkpoint(folder.path() / "odd").error().code(), ErrorCode::data_loss);
    }
    folder.write("deep/state.json", R"({"sha256":"x","content":)" + std::string(200'000, '['));
    EXPECT_EQ(load_checkpoint(folder.path() / "deep").error().code(), ErrorCode::data_loss);
}

TEST(Checkpoint, a_name_is_saved_once_and_leftovers_are_replaced) {
    const TempFolder folder;
    folder.write("one.tmp/model.safetensors", "half");
    save_checkpoint(folder.path(), "one", checkpoint_at(1));
    EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"one"});
    EXPECT_EQ(save_refusal(folder.path(), "one"), ErrorCode::conflict);
    EXPECT_TRUE(load_checkpoint(folder.path() / "one"));
}

// Goal: a disk that fills while saving leaves no half checkpoint and is named as the reason.
// Method: a child process that may write files of at most 300 bytes; the parent sees its exit.
TEST(Checkpoint, a_full_disk_is_an_error_that_says_so_and_inputs_nothing) {
    const TempFolder folder;
    save_checkpoint(folder.path(), "before", checkpoint_at(1));
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const rlimit limit{100, 100};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        const ErrorCode code = save_refusal(folder.path(), "full");
        _exit(code == ErrorCode::exhausted ? 42 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 42);
    EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"before"});
    EXPECT_EQ(newest_checkpoint(folder.path()), folder.path() / "before");
}

TEST(Checkpoint, a_folder_that_cannot_be_written_is_an_error) {
    const TempFolder folder;
    folder.write("file", "in the way");
    EXPECT_EQ(save_refusal(folder.path() / "file/below", "x"), ErrorCode::unavailable);
}

TEST(Checkpoint, the_newest_whole_one_is_found) {
    const TempFolder folder;
    EXPECT_FALSE(newest_checkpoint(folder.path() / "none"));
    EXPECT_FALSE(newest_checkpoint(folder.path()));
    for (const std::int64_t step : {5, 100, 20}) {
        save_checkpoint(folder.path(), "step_" + std::to_string(step), checkpoint_at(step));
    }
    save_checkpoint(folder.path(), "step_100_attempt_2", checkpoint_at(100));
    save_checkpoint(folder.path(), "step_999.tmp", checkpoint_at(999));    // never finished
    folder.write("notes.txt", "not a checkpoint");
    folder.write("empty/notes.txt", "not a checkpoint");
    EXPECT_EQ(newest_checkpoint(folder.path()), folder.path() / "step_100_attempt_2");

    folder.write("step_100_attempt_2/model.safetensors", "damaged");
    EXPECT_EQ(newest_checkpoint(folder.path()), folder.path() / "step_100");
    folder.write("step_100/state.json", "damaged");
    EXPECT_EQ(newest_checkpoint(folder.path()), folder.path() / "step_20");
    const NewestCheckpoint newest = find_newest_checkpoint(folder.path());
    EXPECT_EQ(newest.whole, folder.path() / "step_20");
    EXPECT_THAT(newest.damaged,
                testing::UnorderedElementsAre(testing::HasSubstr("step_100 is damaged: state.json"),
                                              testing::HasSubstr("step_100_attempt_2")));
}

TEST(Checkpoint, pruning_removes_only_checkpoints_that_are_not_kept) {
    const TempFolder folder;
    for (const std::string name : {"a", "b", "c"}) {
        save_checkpoint(folder.path(), name, checkpoint_at(1));
    }
    folder.write("d.tmp/model.safetensors", "half");
    folder.write("notes/readme", "mine");
    folder.write("log", "mine");
    const std::vector<std::string> keep = {"b", "unknown"};
    EXPECT_EQ(prune_checkpoints(folder.path(), keep), (std::vector<std::string>{"a", "c"}));
    EXPECT_EQ(names_in(folder.path()), (std::vector<std::string>{"b", "log", "notes"}));
    EXPECT_TRUE(prune_checkpoints(folder.path() / "none", keep).empty());
}

}    // namespace slipway

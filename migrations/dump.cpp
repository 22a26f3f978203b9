#include "migrations/dump.h"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "api/base/error.h"
#include "migrations/queries.h"
#include "scheduler/store/cluster/process.h"
#include "scheduler/store/pg/connection.h"

namespace slipway::migrations {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& reason) {
    throw Error{ErrorCode::unavailable,
                fmt::format("the schema was not migrated, because the database could not be dumped "
                            "before it: {}. Or make a backup of your own and run `slipwayd migrate "
                            "--no-dump`",
                            reason)};
}

struct DatabaseFacts {
    std::int64_t bytes = 0;
    int major = 0;    ///< the version of its server
};

DatabaseFacts facts_of(const std::string& database) {
    store::Connection connection({.database = database, .connections_max = 1});
    const store::Rows rows = connection.run(queries::measure_database);
    return {.bytes = rows[0].integer("bytes"), .major = rows[0].small("major")};
}

fs::path find_pg_dump(const fs::path& installed, int major) {
    for (const fs::path& path :
         {installed / std::to_string(major) / "bin/pg_dump", fs::path("/usr/bin/pg_dump")})
        if (fs::exists(path)) return path;
    fail(fmt::format("there is no pg_dump: install the package postgresql-client-{}", major));
}

void make_folder(const fs::path& folder) {
    std::error_code problem;
    fs::create_directories(folder, problem);
    if (!problem) fs::permissions(folder, fs::perms::owner_all, problem);
    if (problem) fail(fmt::format("{}: {}", folder.string(), problem.message()));
}

/// Of a process that was killed. It may be as large as the database.
void delete_unfinished(const fs::path& folder) {
    std::error_code problem;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, problem)) {
        const std::string name = entry.path().filename().string();
        if (name.ends_with(".dump.partial") || name.ends_with(".dump.log"))
            fs::remove(entry.path(), problem);
    }
}

/// A dump is compressed and has no indexes: it takes less than the database.
void require_room(const fs::path& folder, std::int64_t bytes) {
    std::error_code problem;
    const fs::space_info space = fs::space(folder, problem);
    if (problem || space.available >= std::uintmax_t(bytes)) return;
    fail(fmt::format("it takes up to {} MiB and {} has {} MiB free: make room", bytes >> 20,
                     folder.string(), space.available >> 20));
}

/// "20261129T032112Z"
std::string compact(Instant at) {
    std::string text = to_rfc3339(at).substr(0, sizeof "2026-11-29T03:21:12" - 1);
    std::erase_if(text, [](char c) { return c == '-' || c == ':'; });
    return text + "Z";
}

std::string text_of(const fs::path& file) {
    std::ifstream stream(file);
    std::string text{std::istreambuf_iterator<char>(stream), {}};
    while (text.ends_with('\n'))
        text.pop_back();
    return text;
}

}    // namespace

fs::path dump_database(const DumpOptions& options) {
    const DatabaseFacts facts = facts_of(options.database);
    const fs::path program = find_pg_dump(options.installed, facts.major);
    make_folder(options.folder);
    delete_unfinished(options.folder);
    require_room(options.folder, facts.bytes);
    const fs::path file =
        options.folder / fmt::format("before-{}-{}.dump", options.version, compact(options.at));
    const fs::path partial = fs::path(file).concat(".partial");
    const fs::path messages = fs::path(file).concat(".log");
    const int code = store::run_process(
        {.words = {program.string(), "--format=custom", "--file=" + partial.string()},
         .environment = store::address_environment(options.database),
         .output = messages});
    const std::string said = text_of(messages);
    std::error_code problem;
    fs::remove(messages, problem);
    if (code == 0) fs::rename(partial, file, problem);
    if (code == 0 && !problem) return file;
    const std::string reason = problem ? problem.message() : said;
    fs::remove(partial, problem);
    fail(reason.empty() ? fmt::format("pg_dump ended with exit code {}", code) : reason);
}

}    // namespace slipway::migrations

#include "api/client/contexts.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "api/client/service.h"

namespace slipway::client {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : std::string(value);
}

[[noreturn]] void unusable(const fs::path& file) {
    throw Stop(ExitCode::usage,
               fmt::format("{} is not a file of contexts; remove it and log in again with "
                           "`slipway login`",
                           file.string()));
}

[[noreturn]] void unwritable(const fs::path& file) {
    throw Stop(ExitCode::usage,
               fmt::format("{} cannot be written: {}", file.string(), std::strerror(errno)));
}

}    // namespace

fs::path contexts_file() {
    if (const std::string named = variable("SLIPWAY_CONFIG"); !named.empty()) return named;
    const std::string base = variable("XDG_CONFIG_HOME");
    const fs::path folder = base.empty() ? fs::path(variable("HOME")) / ".config" : fs::path(base);
    return folder / "slipway" / "config.json";
}

Contexts read_contexts() {
    const fs::path path = contexts_file();
    std::error_code error;
    if (!fs::exists(path, error)) return {};
    std::ifstream file(path);
    const Json content = Json::parse(file, nullptr, false);
    if (!content.is_object() || !content.value("contexts", Json()).is_object()) unusable(path);
    Contexts contexts{.current = text_of(content, "current")};
    for (const auto& [name, one] : content.at("contexts").items()) {
        if (!one.is_object()) unusable(path);
        contexts.all[name] = {.url = text_of(one, "url"),
                              .token = text_of(one, "token"),
                              .certificate_authority = text_of(one, "certificate_authority")};
    }
    return contexts;
}

void write_contexts(const Contexts& contexts) {
    Json content{{"contexts", Json::object()}};
    if (!contexts.current.empty()) content["current"] = contexts.current;
    for (const auto& [name, one] : contexts.all) {
        Json& into = content["contexts"][name] = {{"url", one.url}, {"token", one.token}};
        if (!one.certificate_authority.empty())
            into["certificate_authority"] = one.certificate_authority;
    }
    const fs::path path = contexts_file();
    std::error_code error;
    if (fs::create_directories(path.parent_path(), error) && !error)
        fs::permissions(path.parent_path(), fs::perms::owner_all, error);
    // Aside and with its mode from the start: nobody else ever reads a token, and a reader sees the
    // old file or the new.
    std::string aside = path.string() + ".XXXXXX";
    const int file = mkostemp(aside.data(), O_CLOEXEC);
    if (file < 0) unwritable(path);
    const std::string text = content.dump(2) + "\n";
    const bool written =
        write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
        fsync(file) == 0;
    close(file);
    if (!written || rename(aside.c_str(), path.c_str()) != 0) {
        unlink(aside.c_str());
        unwritable(path);
    }
}

const Context& find_context(const Contexts& contexts, const std::string& name) {
    const auto found = contexts.all.find(name);
    if (found != contexts.all.end()) return found->second;
    std::string names;
    for (const auto& [one, _] : contexts.all)
        names += (names.empty() ? "" : ", ") + one;
    throw Stop(ExitCode::usage, fmt::format("there is no context `{}`; there are: {}", name,
                                            names.empty() ? "none" : names));
}

}    // namespace slipway::client

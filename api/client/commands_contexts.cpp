#include <fmt/format.h>
#include <termios.h>
#include <unistd.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "api/base/printable.h"
#include "api/client/commands.h"
#include "api/client/contexts.h"
#include "api/client/request_document.h"

namespace slipway::client {
namespace {

// Characters that are typed are not shown while one of these lives.
class HiddenInput {
public:
    HiddenInput() {
        if (tcgetattr(STDIN_FILENO, &before_) != 0) return;
        termios hidden = before_;
        hidden.c_lflag &= ~static_cast<tcflag_t>(ECHO);
        changed_ = tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden) == 0;
    }
    HiddenInput(const HiddenInput&) = delete;
    HiddenInput& operator=(const HiddenInput&) = delete;
    ~HiddenInput() {
        if (changed_) tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
    }

private:
    termios before_{};
    bool changed_ = false;
};

// Never of the command line: others on the host see that.
std::string read_token(const std::string& file) {
    std::string text;
    if (file.empty() && isatty(STDIN_FILENO) == 1) {
        fmt::print(stderr, "Token: ");
        const HiddenInput hidden;
        std::getline(std::cin, text);
        fmt::print(stderr, "\n");
    } else {
        text = read_text(file.empty() ? "-" : file);
    }
    const std::string spaces = " \t\r\n";
    const std::size_t begin = text.find_first_not_of(spaces);
    if (begin == std::string::npos) throw Stop(ExitCode::usage, "no token was given");
    text = text.substr(begin, text.find_last_not_of(spaces) - begin + 1);
    if (text.find_first_of(spaces) != std::string::npos)
        throw Stop(ExitCode::usage, "a token is one word, such as slp_…");
    return text;
}

}    // namespace

ExitCode login(const ConnectOptions& connect_options, const LoginOptions& options) {
    ConnectOptions connecting = connect_options;
    // A token is asked for all the same, so the address must not come from another context.
    connecting.url = address_of(connect_options);
    connecting.token = read_token(options.token_file);
    const HttpClient client = connect(connecting);
    const Json me = get(client, "/v1/me");
    Contexts contexts = read_contexts();
    const std::string name =
        options.name.empty() ? to_string(client.options().url.authority) : options.name;
    contexts.all[name] = {.url = to_string(client.options().url),
                          .token = connecting.token,
                          .certificate_authority = client.options().certificate_authority};
    contexts.current = name;
    write_contexts(contexts);
    fmt::print("logged in to {} as {} ({}); context {}\n", to_string(client.options().url),
               cell(me, "name"), cell(me, "role"), printable_line(name));
    return ExitCode::ok;
}

ExitCode logout(const std::string& name) {
    Contexts contexts = read_contexts();
    const std::string gone = name.empty() ? contexts.current : name;
    if (gone.empty()) throw Stop(ExitCode::usage, "there is no current context; name one");
    find_context(contexts, gone);
    contexts.all.erase(gone);
    if (contexts.current == gone) contexts.current.clear();
    write_contexts(contexts);
    fmt::print("{} removed; its token is valid until it is revoked (slipway token revoke)\n",
               printable_line(gone));
    return ExitCode::ok;
}

Listing list_contexts() {
    const Contexts contexts = read_contexts();
    Listing listing{.head = {"current", "name", "url"}};
    for (const auto& [name, one] : contexts.all) {
        const bool is_current = name == contexts.current;
        listing.rows.push_back(
            {is_current ? "*" : "", printable_line(name), printable_line(one.url)});
        listing.items.push_back({{"name", name}, {"url", one.url}, {"current", is_current}});
    }
    return listing;
}

ExitCode use_context(const std::string& name) {
    Contexts contexts = read_contexts();
    const Context& chosen = find_context(contexts, name);
    contexts.current = name;
    write_contexts(contexts);
    fmt::print("{} ({})\n", printable_line(name), printable_line(chosen.url));
    return ExitCode::ok;
}

}    // namespace slipway::client

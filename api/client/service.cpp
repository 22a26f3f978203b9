#include "api/client/service.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "api/base/id.h"
#include "api/base/printable.h"
#include "api/client/contexts.h"

namespace slipway::client {
namespace {

namespace fs = std::filesystem;

constexpr std::array retry_after{std::chrono::milliseconds{200}, std::chrono::milliseconds{500},
                                 std::chrono::milliseconds{1000}, std::chrono::milliseconds{2000}};

std::string from_environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : std::string(value);
}

fs::path home_of(const ConnectOptions& options) {
    if (!options.home.empty()) return options.home;
    if (const std::string home = from_environment("SLIPWAY_HOME"); !home.empty()) return home;
    if (geteuid() == 0) return "/var/lib/slipway";
    return fs::path(from_environment("HOME")) / ".local/share/slipway";
}

std::string home_token(const ConnectOptions& options) {
    const fs::path path = home_of(options) / "admin-token";
    std::ifstream file(path);
    std::string token;
    std::getline(file, token);
    if (token.empty())
        throw Stop(
            ExitCode::usage,
            fmt::format("there is no token: log in with `slipway login`, set SLIPWAY_TOKEN, or "
                        "give the home folder of the service with --home ({} cannot be read)",
                        path.string()));
    return token;
}

// None: address and token are found without a context.
std::optional<Context> chosen_context(const ConnectOptions& options) {
    const bool is_given = !options.url.empty() || !options.home.empty();
    if (!options.context.empty() && is_given)
        throw Stop(ExitCode::usage, "give --context, or --url or --home, not both");
    std::string name = options.context;
    if (is_given || !options.token.empty()) return std::nullopt;
    if (name.empty()) name = from_environment("SLIPWAY_CONTEXT");
    const bool is_set =
        !from_environment("SLIPWAY_URL").empty() || !from_environment("SLIPWAY_HOME").empty();
    if (name.empty() && is_set) return std::nullopt;
    const Contexts contexts = read_contexts();
    if (name.empty()) name = contexts.current;
    if (name.empty()) return std::nullopt;
    return find_context(contexts, name);
}

bool worth_repeating(const ClientResponse& response) {
    return response.status == 503;
}

// As a word of its own.
bool contains_word(std::string_view text, std::string_view word) {
    const auto is_letter = [](char byte) {
        return std::isalnum(static_cast<unsigned char>(byte)) != 0 || byte == '_';
    };
    for (std::size_t at = text.find(word); at != std::string_view::npos;
         at = text.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        if ((at == 0 || !is_letter(text[at - 1])) && (end == text.size() || !is_letter(text[end])))
            return true;
    }
    return false;
}

// The words that are allowed follow where the message does not name them.
std::string problem_line(const Json& item) {
    std::string line = fmt::format("  {}: {}", printable_line(text_of(item, "pointer")),
                                   printable_line(text_of(item, "message")));
    const auto allowed = item.find("allowed");
    if (allowed == item.end() || !allowed->is_array() || allowed->empty()) return line;
    std::vector<std::string> words;
    for (const Json& one : *allowed)
        words.push_back(one.is_string() ? one.get<std::string>() : one.dump());
    if (std::ranges::all_of(words,
                            [&](const std::string& word) { return contains_word(line, word); }))
        return line;
    return line + printable_line(fmt::format(" (allowed: {})", fmt::join(words, ", ")));
}

// The detail of an answer ends with its first field's problem, which has a line of its own below.
std::string without_items(const std::string& detail, const Json& items) {
    std::size_t end = detail.size();
    for (const Json& item : items) {
        const std::string message = item.is_object() ? text_of(item, "message") : "";
        if (!message.empty()) end = std::min(end, detail.find(message));
        const std::string place = message.empty() ? "" : text_of(item, "pointer");
        if (!place.empty()) end = std::min(end, detail.find(place + ": " + message));
    }
    std::string head = detail.substr(0, end);
    while (head.ends_with(' ') || head.ends_with(':'))
        head.pop_back();
    return head;
}

}    // namespace

std::string address_in(const std::string& home) {
    std::ifstream file(fs::path(home) / "address");
    std::string address;
    std::getline(file, address);
    return address;
}

std::string address_of(const ConnectOptions& options) {
    std::string address = options.url;
    if (address.empty()) address = from_environment("SLIPWAY_URL");
    if (address.empty()) address = address_in(home_of(options));
    return address.empty() ? "http://127.0.0.1:8470" : address;
}

HttpClient connect(const ConnectOptions& options) {
    std::string authority = options.certificate_authority;
    if (authority.empty()) authority = from_environment("SLIPWAY_CA");
    std::string token = options.token;
    if (token.empty()) token = from_environment("SLIPWAY_TOKEN");
    std::string address;
    if (const auto context = chosen_context(options)) {
        address = context->url;
        if (token.empty()) token = context->token;
        if (authority.empty()) authority = context->certificate_authority;
    } else {
        address = address_of(options);
        if (token.empty()) token = home_token(options);
    }
    const auto url = parse_service_url(address);
    if (!url) throw Stop(ExitCode::usage, url.error().what());
    return HttpClient({.url = *url, .token = token, .certificate_authority = authority});
}

ClientResponse call_raw(const HttpClient& client, ClientRequest request) {
    if (request.method == "POST") request.headers.push_back({"Idempotency-Key", random_hex(16)});
    for (std::size_t attempt = 0;; ++attempt) {
        const bool last = attempt == retry_after.size();
        try {
            ClientResponse response = client.send(request);
            if (last || !worth_repeating(response)) return response;
        } catch (const Error& error) {
            if (last || error.code() != ErrorCode::unavailable)
                throw Stop(ExitCode::unreachable,
                           fmt::format("the service does not answer: {}", error.what()));
        }
        pause_for(retry_after[attempt]);
    }
}

Json call(const HttpClient& client, const std::string& method, const std::string& target,
          const Json& body) {
    ClientRequest request{.method = method, .target = target};
    if (method != "GET" && !body.is_null()) request.body = body.dump();
    const ClientResponse response = call_raw(client, std::move(request));
    require_success(response);
    if (response.body.empty()) return Json::object();
    Json answer = Json::parse(response.body, nullptr, false);
    if (answer.is_discarded())
        throw Stop(ExitCode::unreachable,
                   fmt::format("{} did not answer with Slipway's JSON; is the address right?",
                               to_string(client.options().url)));
    return answer;
}

Json get(const HttpClient& client, const std::string& target) {
    return call(client, "GET", target, nullptr);
}

Json get_items(const HttpClient& client, const std::string& target, std::size_t count_max) {
    constexpr std::size_t page_items_max = 200;
    const char mark = target.find('?') == std::string::npos ? '?' : '&';
    Json items = Json::array();
    std::string cursor;
    do {
        const std::size_t count = std::min(page_items_max, count_max - items.size());
        Json page = get(client, fmt::format("{}{}limit={}{}", target, mark, count, cursor));
        for (Json& item : page.at("items"))
            items.push_back(std::move(item));
        const std::string next = text_of(page, "next_cursor");
        cursor = next.empty() ? next : "&cursor=" + percent_encode(next);
    } while (!cursor.empty() && items.size() < count_max);
    return items;
}

std::string text_of(const Json& object, const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string job_path(const std::string& job_id) {
    return "/v1/jobs/" + percent_encode(job_id);
}

std::string problem_text(const ClientResponse& response) {
    const Json body = Json::parse(response.body, nullptr, false);
    if (!body.is_object()) return fmt::format("the service answered {}", response.status);
    std::string text = text_of(body, "detail");
    const auto items = body.find("errors");
    if (items != body.end() && items->is_array()) text = without_items(text, *items);
    if (text.empty()) text = text_of(body, "title");
    text = printable_line(text);
    if (items != body.end() && items->is_array())
        for (const Json& item : *items)
            if (item.is_object()) text += "\n" + problem_line(item);
    if (response.status >= 500)
        text += fmt::format(" (request {})", printable_line(text_of(body, "request_id")));
    return text;
}

void require_success(const ClientResponse& response) {
    if (response.status >= 200 && response.status < 300) return;
    throw Stop(response.status >= 500 ? ExitCode::unreachable : ExitCode::refused,
               problem_text(response));
}

void pause_for(std::chrono::milliseconds time) {
    poll(nullptr, 0, static_cast<int>(time.count()));
}

}    // namespace slipway::client

#include "server/http/answer.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/base/error.h"
#include "api/base/id.h"
#include "server/http/files.h"
#include "server/http/problem.h"
#include "server/http/text.h"
#include "server/http/trace_context.h"

namespace slipway {

namespace {

bool has_no_body(int status) {
    return status == 204 || status == 304 || status < 200;
}

constexpr std::string_view page_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'";
constexpr std::string_view other_policy = "default-src 'none'; frame-ancestors 'none'; sandbox";

class HeadWriter {
public:
    explicit HeadWriter(const Response& response) : response_(response) {
        text_ = fmt::format("HTTP/1.1 {} {}\r\n", response.status, status_title(response.status));
    }

    void add(std::string_view name, std::string_view value) {
        if (!is_token(name) || !is_field_value(value))
            throw Error(ErrorCode::internal,
                        fmt::format("the answer's header {} would break the message", name));
        fmt::format_to(std::back_inserter(text_), "{}: {}\r\n", name, value);
    }

    /// Unless the handler has given it.
    void add_default(std::string_view name, std::string_view value) {
        if (!response_.header(name)) add(name, value);
    }

    std::string finish() {
        text_ += "\r\n";
        return std::move(text_);
    }

private:
    const Response& response_;
    std::string text_;
};

void add_security(HeadWriter& head, const Response& response, const AnswerFacts& facts) {
    // A browser takes the headers of a 304 for those of what it holds: it keeps those of the 200,
    // whose kind is no longer known here.
    if (response.status == 304) return;
    const bool page = response.media_type.starts_with("text/html");
    head.add_default("Cache-Control", "no-store");
    head.add_default("X-Content-Type-Options", "nosniff");
    head.add_default("Referrer-Policy", "no-referrer");
    head.add_default("Content-Security-Policy", page ? page_policy : other_policy);
    head.add_default("Cross-Origin-Resource-Policy", "same-origin");
    if (page) {
        head.add_default("Cross-Origin-Opener-Policy", "same-origin");
        head.add_default("X-Frame-Options", "DENY");
    }
    if (facts.secure) head.add_default("Strict-Transport-Security", "max-age=31536000");
}

void add_framing(HeadWriter& head, const Response& response, const AnswerFacts& facts) {
    if (response.events) {
        head.add_default("X-Accel-Buffering", "no");
        if (facts.http_1_1) head.add("Transfer-Encoding", "chunked");
    } else if (!has_no_body(response.status)) {
        head.add("Content-Length", std::to_string(*body_bytes_of(response)));
    }
    if (facts.close) head.add("Connection", "close");
}

void judge_preconditions(const Request& request, Response& response) {
    const auto etag = response.header("ETag");
    if (!etag) return;
    const auto wanted = request.header("if-match");
    if (wanted && !etag_listed(*wanted, *etag, false)) {
        if (response.events) response.events->close();
        response = problem_response({.status = 412,
                                     .code = "precondition_failed",
                                     .detail = "If-Match does not name its ETag; read it again",
                                     .headers = {{"ETag", std::string(*etag)}}},
                                    request.request_id);
        return;
    }
    const auto seen = request.header("if-none-match");
    if (response.status == 200 && seen && etag_listed(*seen, *etag, true)) response.status = 304;
}

}    // namespace

void settle(const Request& request, Response& response) {
    const bool reads = request.method == Method::GET || request.method == Method::HEAD;
    if (reads && (response.status == 200 || response.status == 206))
        judge_preconditions(request, response);
    if (!has_no_body(response.status)) return;
    response.body.clear();
    response.embedded = {};
    response.file.reset();
    response.media_type.clear();
    if (response.events) response.events->close();
    response.events.reset();
}

std::string encode_head(const Response& response, const AnswerFacts& facts) {
    HeadWriter head(response);
    head.add("Server", "slipway");
    head.add("Date", http_date(facts.now));
    head.add("X-Request-Id", facts.request_id);
    if (!facts.traceparent.empty()) head.add("traceparent", facts.traceparent);
    if (!response.media_type.empty() && body_bytes_of(response) != 0)
        head.add_default("Content-Type", response.media_type);
    for (const Pair& header : response.headers)
        head.add(header.name, header.value);
    add_security(head, response, facts);
    add_framing(head, response, facts);
    return head.finish();
}

std::optional<std::uint64_t> body_bytes_of(const Response& response) {
    if (response.events) return std::nullopt;
    if (response.file) return response.file->length;
    return memory_body_of(response).size();
}

std::string_view memory_body_of(const Response& response) {
    return response.embedded.empty() ? std::string_view(response.body) : response.embedded;
}

std::string continue_trace(const Request& request) {
    const auto named = [](const Pair& header) { return header.name == "traceparent"; };
    if (std::ranges::count_if(request.headers, named) != 1) return {};
    const auto caller = parse_traceparent(*request.header("traceparent"));
    return caller ? continued(*caller).traceparent() : "";
}

std::string choose_request_id(const Request& request, const Clock& clock) {
    const auto given = request.header("x-request-id");
    const auto good = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               c == '.' || c == '_' || c == '-';
    };
    if (given && !given->empty() && given->size() <= 64 &&
        std::all_of(given->begin(), given->end(), good))
        return std::string(*given);
    return new_id("req", clock);
}

}    // namespace slipway

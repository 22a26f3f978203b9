#include "server/http/second_reader.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>

namespace slipway {

std::optional<std::string> second_reader_disagrees(std::string_view bytes, const RequestHead& head,
                                                   const HttpLimits& limits) {
    namespace http = boost::beast::http;
    http::request_parser<http::empty_body> parser;
    parser.header_limit(static_cast<std::uint32_t>(limits.header_bytes));
    parser.body_limit(boost::none);    // lengths are judged by the route, later
    boost::beast::error_code error;
    std::string as_1_1;
    if (head.minor_version > 1) {
        // Beast refuses what RFC 9110, 2.5 has a server read as its own highest minor version.
        as_1_1 = bytes;
        as_1_1[as_1_1.find("\r\n") - 1] = '1';
        bytes = as_1_1;
    }
    parser.put(boost::asio::buffer(bytes.data(), bytes.size()), error);
    // empty_body complains about a body that is announced; the header is read by then.
    if (error && error != http::error::unexpected_body && error != http::error::need_more)
        return error.message();
    if (!parser.is_header_done()) return "the headers are not complete";
    const auto& message = parser.get();
    if (message.method_string() != std::string_view(to_string(head.method))) return "the method";
    if (message.target() != head.raw_target) return "the target";
    if (parser.chunked() != head.chunked) return "whether the body is chunked";
    if (!head.chunked && parser.content_length().value_or(0) != head.body_bytes)
        return "the length of the body";
    if (head.keep_alive && !parser.keep_alive()) return "whether the connection stays open";
    return std::nullopt;
}

}    // namespace slipway

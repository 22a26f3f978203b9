#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "server/http/target.h"

namespace slipway {

/// Takes the chunks of a body apart as the bytes come (RFC 9112, 7.1), strictly: CR LF only, no
/// spaces around the size, at most 16 digits of size. Extensions and trailers are checked, counted
/// together against a cap, and dropped.
class ChunkDecoder {
public:
    /// body_bytes_max  413 above; judged from a chunk's size before its data
    /// extra_bytes_max  of extensions and trailers together: 400 above
    ChunkDecoder(std::uint64_t body_bytes_max, std::size_t extra_bytes_max)
        : body_bytes_max_(body_bytes_max), extra_bytes_max_(extra_bytes_max) {}

    enum class State { more, done, refused };
    struct Step {
        State state = State::more;
        std::size_t consumed = 0;    ///< bytes of the input that are dealt with
        std::string_view data;       ///< a part of the body; lies inside the input
    };
    /// Goes on to the end of a stretch of data, of the body, or of the input. Bytes after the last
    /// chunk are not consumed: they belong to the next request.
    Step next(std::string_view input);

    /// Why; after State::refused.
    const Refusal& refusal() const { return refusal_; }
    std::uint64_t body_bytes() const { return body_bytes_; }

private:
    enum class Expect {
        size_first,
        size,
        extension,
        size_line_feed,
        data,
        data_return,
        data_line_feed,
        trailer,
        trailer_line_feed,
        nothing
    };
    bool take(char c);
    bool take_size_digit(char c);
    bool take_line_end_of_size();
    bool take_trailer_line();
    bool count_extra();
    bool refuse(int status, std::string_view code, std::string detail);

    const std::uint64_t body_bytes_max_;
    const std::size_t extra_bytes_max_;
    Expect expect_ = Expect::size_first;
    std::uint64_t chunk_left_ = 0;
    int size_digits_ = 0;
    std::uint64_t body_bytes_ = 0;
    std::size_t extra_bytes_ = 0;
    std::string trailer_line_;
    Refusal refusal_;
};

}    // namespace slipway

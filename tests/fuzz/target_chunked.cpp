#include <fmt/format.h>

#include "api/base/check.h"
#include "server/http/chunked.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"

namespace slipway {
namespace {

constexpr std::uint64_t body_bytes_max = 64 * 1024;
constexpr std::size_t extra_bytes_max = 1024;

struct Read {
    ChunkDecoder::State state = ChunkDecoder::State::more;
    std::string body;
    std::size_t consumed = 0;
    std::string refusal;
};

// As read_body does it, with at most `piece_bytes` at a time.
Read read_in_pieces(std::string_view bytes, std::size_t piece_bytes) {
    ChunkDecoder decoder(body_bytes_max, extra_bytes_max);
    Read read;
    while (read.state == ChunkDecoder::State::more && read.consumed < bytes.size()) {
        std::string_view piece = bytes.substr(read.consumed, piece_bytes);
        while (read.state == ChunkDecoder::State::more && !piece.empty()) {
            const ChunkDecoder::Step step = decoder.next(piece);
            check(step.consumed <= piece.size() && step.data.size() <= step.consumed,
                  "a step stays inside its input");
            check(step.consumed > 0 || step.state != ChunkDecoder::State::more,
                  "a step gets on or ends");
            read.state = step.state;
            read.body += step.data;
            read.consumed += step.consumed;
            piece.remove_prefix(step.consumed);
        }
    }
    check(read.body.size() <= body_bytes_max, "a body keeps to its limit");
    if (read.state == ChunkDecoder::State::refused)
        read.refusal = fmt::format("{} {}", decoder.refusal().status, decoder.refusal().code);
    return read;
}

}    // namespace

std::string run_chunked(std::span<const std::byte> input) {
    const std::string bytes = text_of(input);
    const Read whole = read_in_pieces(bytes, bytes.size());
    const Read bytewise = read_in_pieces(bytes, 1);
    check(whole.state == bytewise.state && whole.body == bytewise.body &&
              whole.refusal == bytewise.refusal,
          "how the chunks arrive does not decide what they are");
    if (whole.state == ChunkDecoder::State::refused) return whole.refusal;
    if (whole.state == ChunkDecoder::State::more)
        return fmt::format("more is needed after a body of {} bytes", whole.body.size());
    check(whole.consumed == bytewise.consumed, "nor where they end");
    return fmt::format("a body of {} bytes, and {} bytes of what follows", whole.body.size(),
                       bytes.size() - whole.consumed);
}

}    // namespace slipway

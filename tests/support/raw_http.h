#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/base/posix.h"

namespace slipway {

/// One answer as it came over the wire.
struct RawAnswer {
    int status = 0;    ///< 0: the connection ended (or fell silent) before a whole answer came
    std::string head;
    std::vector<std::pair<std::string, std::string>> headers;    ///< names in lower case
    std::string body;                                            ///< chunks already joined

    /// The first header of that name; "" when absent.
    std::string header(std::string_view lower_name) const;
};

/// A TCP connection to 127.0.0.1 that sends exactly the bytes it is given: for what a well-behaved
/// client would never send. Every wait ends after `patience`.
class RawHttp {
public:
    explicit RawHttp(std::uint16_t port,
                     std::chrono::milliseconds patience = std::chrono::seconds(10));

    /// False when nobody listens.
    bool is_connected() const { return bool(socket_); }
    /// False when the other end has closed; what it did not take is dropped.
    bool send(std::string_view bytes);
    /// Says that nothing follows; reading goes on.
    void end_sending();
    /// The next answer. `without_body`: it answers a HEAD.
    RawAnswer read_answer(bool without_body = false);
    /// All answers until the connection ends.
    std::vector<RawAnswer> read_all_answers();
    /// More bytes as they come; "" at the end of the connection or of patience.
    std::string read_some();
    /// True when the other end closes within patience; what it still sends is dropped.
    bool is_closed_by_peer();
    /// Makes the kernel buffer little, so that not reading soon stops the other end.
    void shrink_receive_buffer(int bytes);

private:
    bool fill();
    std::string take(std::size_t bytes);
    bool read_until(std::string_view mark, std::string& text);
    bool read_chunks(std::string& body);

    UniqueFd socket_;
    std::chrono::milliseconds patience_;
    std::string buffer_;
};

/// Connects, sends, reads all answers: the statuses in order.
std::vector<int> raw_statuses(std::uint16_t port, std::string_view bytes);

}    // namespace slipway

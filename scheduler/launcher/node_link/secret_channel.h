#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/base/posix.h"

namespace slipway {

/// What both ends of a connection know and nobody else.
struct LinkKey {
    std::string identity;    ///< of whose link it is; everybody on the way can read it
    std::string secret;      ///< at least link_secret_bytes_min bytes that nobody can guess
};

inline constexpr std::size_t link_secret_bytes_min = 32;
inline constexpr std::size_t link_secret_bytes_max = 256;

/// What a call that never blocks came to.
enum class LinkStep { done, wants_read, wants_write, ended };

/// A connection between two that prove to each other that they have the same key: TLS 1.3 with a
/// pre-shared key and no certificates. Whoever has read all of it and learns the key later can read
/// none of it. One thread. The thread must not be ended by SIGPIPE.
class SecretChannel {
public:
    /// The key of this identity; none: nobody of that name is expected.
    using FindKey = std::function<std::optional<LinkKey>(std::string_view identity)>;

    /// `socket` does not block.
    /// errors  throws exhausted when there is no memory for one more
    static SecretChannel accept(UniqueFd socket, FindKey find);
    /// errors  likewise; data_loss for a key that can be none
    static SecretChannel connect(UniqueFd socket, LinkKey key);
    SecretChannel(SecretChannel&&) noexcept;
    SecretChannel& operator=(SecretChannel&&) noexcept;
    ~SecretChannel();

    int fd() const;
    /// Again until it is `done` or `ended`.
    LinkStep handshake();
    /// Appends what is there, at most `bytes_max`. `ended`: nothing comes from now on.
    LinkStep read(std::string& received, std::size_t bytes_max);
    /// Takes from the front of `sent` what was sent; `done`: all of it.
    LinkStep write(std::string& sent);

    /// Whom the other end says it is; proved once handshake() is `done`.
    const std::string& identity() const;
    /// It named an identity that has a key here.
    bool is_known() const;

private:
    struct Parts;
    explicit SecretChannel(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> parts_;
};

}    // namespace slipway

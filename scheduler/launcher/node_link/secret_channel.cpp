// TLS 1.3 alone, with an external pre-shared key and a fresh Diffie-Hellman exchange. A client
// takes no certificate in the key's place: one that a client shows ends the handshake, and so
// does a handshake that used no key. Tickets are off: a key is good for as long as its program
// runs, and nothing else opens a connection.
#include "scheduler/launcher/node_link/secret_channel.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <utility>

#include "api/base/error.h"

namespace slipway {

namespace {

using Context = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;
using Connection = std::unique_ptr<SSL, decltype(&SSL_free)>;

constexpr std::size_t identity_bytes_max = 128;
constexpr std::size_t read_at_once = 16384;    // a record
constexpr std::array<unsigned char, 2> cipher_number{0x13, 0x01};
constexpr const char* cipher_name = "TLS_AES_128_GCM_SHA256";

[[noreturn]] void fail_setup() {
    ERR_clear_error();
    throw Error{ErrorCode::exhausted, "OpenSSL cannot set up an encrypted connection"};
}

Context make_context(const SSL_METHOD* method) {
    Context made(SSL_CTX_new(method), SSL_CTX_free);
    if (!made || SSL_CTX_set_min_proto_version(made.get(), TLS1_3_VERSION) != 1 ||
        SSL_CTX_set_ciphersuites(made.get(), cipher_name) != 1 ||
        SSL_CTX_set_num_tickets(made.get(), 0) != 1)
        fail_setup();
    SSL_CTX_set_session_cache_mode(made.get(), SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(made.get(), SSL_MODE_ENABLE_PARTIAL_WRITE |
                                     SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                     SSL_MODE_RELEASE_BUFFERS);
    return made;
}

/// Nothing in it is one connection's, and to make it takes longer than to refuse a client.
SSL_CTX* context_of(bool accepts) {
    static const Context server = make_context(TLS_server_method());
    static const Context client = [] {
        Context made = make_context(TLS_client_method());
        SSL_CTX_set_verify(made.get(), SSL_VERIFY_PEER, nullptr);    // there is nobody to trust
        return made;
    }();
    return accepts ? server.get() : client.get();
}

}    // namespace

struct SecretChannel::Parts {
    UniqueFd socket;
    FindKey find;    // empty: it is the client
    LinkKey key;
    bool known = false;
    Connection connection{nullptr, SSL_free};

    void set_up();
    SSL_SESSION* session() const;
    LinkStep step_of(int result) const;
    static Parts& of(SSL* connection) { return *static_cast<Parts*>(SSL_get_app_data(connection)); }
    static int use_key(SSL* connection, const EVP_MD* hash, const unsigned char** identity,
                       std::size_t* identity_bytes, SSL_SESSION** session);
    static int find_key(SSL* connection, const unsigned char* identity, std::size_t identity_bytes,
                        SSL_SESSION** session);
};

void SecretChannel::Parts::set_up() {
    connection.reset(SSL_new(context_of(bool(find))));
    if (!connection || SSL_set_fd(connection.get(), socket.get()) != 1) fail_setup();
    SSL_set_app_data(connection.get(), this);
    if (find) {
        SSL_set_psk_find_session_callback(connection.get(), find_key);
        SSL_set_accept_state(connection.get());
    } else {
        SSL_set_psk_use_session_callback(connection.get(), use_key);
        SSL_set_connect_state(connection.get());
    }
}

/// What OpenSSL takes for the key; null: there is no memory.
SSL_SESSION* SecretChannel::Parts::session() const {
    std::unique_ptr<SSL_SESSION, decltype(&SSL_SESSION_free)> made(SSL_SESSION_new(),
                                                                   SSL_SESSION_free);
    const SSL_CIPHER* cipher = SSL_CIPHER_find(connection.get(), cipher_number.data());
    const auto* secret = reinterpret_cast<const unsigned char*>(key.secret.data());
    if (!made || cipher == nullptr ||
        SSL_SESSION_set1_master_key(made.get(), secret, key.secret.size()) != 1 ||
        SSL_SESSION_set_cipher(made.get(), cipher) != 1 ||
        SSL_SESSION_set_protocol_version(made.get(), TLS1_3_VERSION) != 1)
        return nullptr;
    return made.release();
}

int SecretChannel::Parts::use_key(SSL* connection, const EVP_MD* hash,
                                  const unsigned char** identity, std::size_t* identity_bytes,
                                  SSL_SESSION** session) {
    const Parts& parts = of(connection);
    *session = nullptr;
    if (hash != nullptr && EVP_MD_get_type(hash) != NID_sha256) return 1;    // no key for that
    *session = parts.session();
    *identity = reinterpret_cast<const unsigned char*>(parts.key.identity.data());
    *identity_bytes = parts.key.identity.size();
    return *session == nullptr ? 0 : 1;
}

int SecretChannel::Parts::find_key(SSL* connection, const unsigned char* identity,
                                   std::size_t identity_bytes, SSL_SESSION** session) {
    Parts& parts = of(connection);
    *session = nullptr;
    if (identity_bytes > identity_bytes_max) return 1;    // nobody's
    const std::string named(reinterpret_cast<const char*>(identity), identity_bytes);
    std::optional<LinkKey> found = parts.find(named);
    parts.key.identity = named;
    parts.known = found.has_value();
    if (!found) return 1;
    parts.key = *std::move(found);
    *session = parts.session();
    return *session == nullptr ? 0 : 1;
}

LinkStep SecretChannel::Parts::step_of(int result) const {
    switch (SSL_get_error(connection.get(), result)) {
        case SSL_ERROR_NONE:
            return LinkStep::done;
        case SSL_ERROR_WANT_READ:
            return LinkStep::wants_read;
        case SSL_ERROR_WANT_WRITE:
            return LinkStep::wants_write;
        default:
            return LinkStep::ended;
    }
}

SecretChannel::SecretChannel(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
SecretChannel::SecretChannel(SecretChannel&&) noexcept = default;
SecretChannel& SecretChannel::operator=(SecretChannel&&) noexcept = default;
SecretChannel::~SecretChannel() = default;

SecretChannel SecretChannel::accept(UniqueFd socket, FindKey find) {
    auto parts = std::make_unique<Parts>();
    parts->socket = std::move(socket);
    parts->find = std::move(find);
    parts->set_up();
    return SecretChannel(std::move(parts));
}

SecretChannel SecretChannel::connect(UniqueFd socket, LinkKey key) {
    if (key.secret.size() < link_secret_bytes_min || key.secret.size() > link_secret_bytes_max ||
        key.identity.empty() || key.identity.size() > identity_bytes_max)
        throw Error{ErrorCode::data_loss, "the key of a link has no identity or no fit secret"};
    auto parts = std::make_unique<Parts>();
    parts->socket = std::move(socket);
    parts->key = std::move(key);
    parts->set_up();
    return SecretChannel(std::move(parts));
}

int SecretChannel::fd() const {
    return parts_->socket.get();
}

LinkStep SecretChannel::handshake() {
    ERR_clear_error();
    const LinkStep step = parts_->step_of(SSL_do_handshake(parts_->connection.get()));
    if (step != LinkStep::done) return step;
    return SSL_session_reused(parts_->connection.get()) == 1 ? LinkStep::done : LinkStep::ended;
}

LinkStep SecretChannel::read(std::string& received, std::size_t bytes_max) {
    std::array<char, read_at_once> piece{};
    while (bytes_max > 0) {
        ERR_clear_error();
        const int wanted = int(std::min(bytes_max, piece.size()));
        const int got = SSL_read(parts_->connection.get(), piece.data(), wanted);
        if (got <= 0) return parts_->step_of(got);
        received.append(piece.data(), std::size_t(got));
        bytes_max -= std::size_t(got);
    }
    return LinkStep::done;
}

LinkStep SecretChannel::write(std::string& sent) {
    while (!sent.empty()) {
        ERR_clear_error();
        const int count = int(std::min(sent.size(), read_at_once));
        const int wrote = SSL_write(parts_->connection.get(), sent.data(), count);
        if (wrote <= 0) return parts_->step_of(wrote);
        sent.erase(0, std::size_t(wrote));
    }
    return LinkStep::done;
}

const std::string& SecretChannel::identity() const {
    return parts_->key.identity;
}

bool SecretChannel::is_known() const {
    return parts_->known;
}

}    // namespace slipway

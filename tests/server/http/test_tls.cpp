// TLS: 1.2 and 1.3 are spoken, older versions and a silent handshake are not.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <poll.h>
#include <sys/socket.h>

#include "server/http/metrics.h"
#include "server/http/server.h"
#include "server/http/transfer_permit.h"
#include "tests/support/raw_http.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

template <class T, void (*free)(T*)>
struct Free {
    void operator()(T* object) const { free(object); }
};
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY, EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Free<X509, X509_free>>;
using Context = std::unique_ptr<SSL_CTX, Free<SSL_CTX, SSL_CTX_free>>;
using Session = std::unique_ptr<SSL, Free<SSL, SSL_free>>;

/// A key and a certificate for it, signed by itself, as PEM files.
void write_certificate(const TempFolder& folder) {
    const Key key(EVP_EC_gen("P-256"));
    const Certificate certificate(X509_new());
    X509_set_version(certificate.get(), 2);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
    X509_set_pubkey(certificate.get(), key.get());
    X509_sign(certificate.get(), key.get(), EVP_sha256());
    const auto write = [&](const char* name, const auto& writer) {
        FILE* file = fopen((folder.path() / name).c_str(), "w");
        writer(file);
        fclose(file);
    };
    write("key.pem", [&](FILE* file) {
        PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    });
    write("cert.pem", [&](FILE* file) { PEM_write_X509(file, certificate.get()); });
}

class Tls : public testing::Test {
protected:
    Tls() {
        write_certificate(folder);
        ServerOptions options;
        options.port = 0;
        options.certificate_file = folder.path() / "cert.pem";
        options.private_key_file = folder.path() / "key.pem";
        options.deadlines.tls_handshake_s = 0.3;
        options.deadlines.linger_s = 0.3;
        options.deadlines.permit_check_s = 0.02;
        const Handler answer = [](const Request& request) {
            Response response;
            response.body = request.secure ? "yes" : "no";
            return response;
        };
        Route upload{.method = Method::PUT, .pattern = "/secure", .handler = answer};
        upload.receive = [this](const Request&) { return receive(); };
        server = std::make_unique<Server>(options, Router({get_route("/secure", answer), upload}),
                                          metrics);
        server->start();
    }

    BodyTarget receive() const {
        const auto path = folder.path() / "upload";
        return {.file = std::make_shared<const UniqueFd>(
                    open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)),
                .bytes_max = 1000,
                .permit = std::make_shared<TransferPermit>()};
    }

    static std::string plain_request() {
        return "GET /secure HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    }

    /// The whole answer to one request, or "" when no connection of that version comes about.
    /// `parts` are sent with silence between.
    std::string ask(int version, const std::vector<std::string>& parts = {plain_request()}) {
        const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(server->port());
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
        const Context context(SSL_CTX_new(TLS_client_method()));
        SSL_CTX_set_min_proto_version(context.get(), version);
        SSL_CTX_set_max_proto_version(context.get(), version);
        SSL_CTX_set_security_level(context.get(), 0);
        const Session session(SSL_new(context.get()));
        SSL_set_fd(session.get(), socket.get());
        if (SSL_connect(session.get()) != 1) return {};
        for (const std::string& part : parts) {
            SSL_write(session.get(), part.data(), static_cast<int>(part.size()));
            if (&part == &parts.back()) break;
            pollfd wait{socket.get(), POLLIN, 0};
            EXPECT_EQ(poll(&wait, 1, 100), 0) << "the server waits for more";
        }
        std::string answer;
        char bytes[4096];
        for (int n = 0; (n = SSL_read(session.get(), bytes, sizeof bytes)) > 0;)
            answer.append(bytes, static_cast<std::size_t>(n));
        // A clean end: close_notify, not a cut.
        EXPECT_EQ(SSL_get_shutdown(session.get()) & SSL_RECEIVED_SHUTDOWN, SSL_RECEIVED_SHUTDOWN);
        return answer;
    }

    TempFolder folder;
    HttpMetrics metrics;
    std::unique_ptr<Server> server;
};

TEST_F(Tls, versions_1_2_and_1_3_are_spoken) {
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        const std::string answer = ask(version);
        EXPECT_TRUE(answer.ends_with("yes")) << answer;
        EXPECT_NE(answer.find("Strict-Transport-Security"), std::string::npos);
    }
}

TEST_F(Tls, a_body_that_pauses_longer_than_it_is_asked_about_goes_on) {
    const std::string head =
        "PUT /secure HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 10\r\n\r\n";
    EXPECT_TRUE(ask(TLS1_2_VERSION, {head + "hello", "world"}).ends_with("yes"));
    EXPECT_EQ(read_file(folder.path() / "upload"), "helloworld");
}

TEST_F(Tls, version_1_1_is_refused) {
    EXPECT_EQ(ask(TLS1_1_VERSION), "");
}

TEST_F(Tls, a_handshake_that_stalls_is_cut) {
    RawHttp silent(server->port());
    EXPECT_TRUE(silent.is_closed_by_peer());
    RawHttp plain(server->port());
    plain.send("GET /secure HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_TRUE(plain.is_closed_by_peer());
    EXPECT_TRUE(ask(TLS1_3_VERSION).ends_with("yes"));
}

TEST_F(Tls, a_certificate_that_cannot_be_read_is_named) {
    ServerOptions options;
    options.port = 0;
    options.certificate_file = folder.path() / "missing.pem";
    Server broken(options, Router({}), metrics);
    try {
        broken.start();
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
        EXPECT_NE(std::string(error.what()).find("missing.pem"), std::string::npos);
    }
}

}    // namespace
}    // namespace slipway

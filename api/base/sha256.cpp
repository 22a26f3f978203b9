#include "api/base/sha256.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "api/base/check.h"
#include "api/base/error.h"
#include "api/base/posix.h"

namespace slipway {

struct Sha256::State {
    struct Free {
        void operator()(EVP_MD_CTX* digest) const { EVP_MD_CTX_free(digest); }
    };
    std::unique_ptr<EVP_MD_CTX, Free> context{EVP_MD_CTX_new()};
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
    check(state_->context != nullptr &&
              EVP_DigestInit_ex(state_->context.get(), EVP_sha256(), nullptr) == 1,
          "SHA-256 is available");
}

Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::span<const std::byte> bytes) {
    check(EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size()) == 1,
          "SHA-256 takes bytes until it is finished");
}

void Sha256::update(std::string_view text) {
    update(std::as_bytes(std::span(text)));
}

std::string Sha256::finish() {
    std::array<unsigned char, 32> digest{};
    check(EVP_DigestFinal_ex(state_->context.get(), digest.data(), nullptr) == 1,
          "SHA-256 is finished once");
    std::string text;
    for (const unsigned char byte : digest)
        text += fmt::format("{:02x}", byte);
    return text;
}

std::string sha256_hex(std::string_view text) {
    Sha256 hash;
    hash.update(text);
    return hash.finish();
}

std::string sha256_file(const std::filesystem::path& path) {
    const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) {
        throw Error{ErrorCode::not_found,
                    fmt::format("{} cannot be opened: {}", path.string(), strerror(errno))};
    }
    Sha256 hash;
    std::vector<std::byte> piece(std::size_t{1} << 18);
    for (;;) {
        const ssize_t count = read(file.get(), piece.data(), piece.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) {
            throw Error{ErrorCode::unavailable,
                        fmt::format("{} cannot be read: {}", path.string(), strerror(errno))};
        }
        if (count == 0) return hash.finish();
        hash.update(std::span(piece).first(std::size_t(count)));
    }
}

}    // namespace slipway

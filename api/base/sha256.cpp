// By nettle, which uses the CPU's SHA instructions. OpenSSL, which the service uses for everything
// else, keeps half a megabyte of tables in each process that makes a digest, and eight executors
// make few.
#include "api/base/sha256.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <nettle/sha2.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "api/base/check.h"
#include "api/base/error.h"
#include "api/base/posix.h"

namespace slipway {

struct Sha256::State {
    sha256_ctx context{};
    bool is_finished = false;
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
    sha256_init(&state_->context);
}

Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::span<const std::byte> bytes) {
    check(!state_->is_finished, "SHA-256 takes bytes until it is finished");
    sha256_update(&state_->context, bytes.size(),
                  reinterpret_cast<const std::uint8_t*>(bytes.data()));
}

void Sha256::update(std::string_view text) {
    update(std::as_bytes(std::span(text)));
}

std::string Sha256::finish() {
    check(!std::exchange(state_->is_finished, true), "SHA-256 is finished once");
    std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest{};
    sha256_digest(&state_->context, digest.size(), digest.data());
    std::string text;
    for (const std::uint8_t byte : digest)
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

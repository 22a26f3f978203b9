#include "scheduler/launcher/slurm/job_mark.h"

#include <charconv>

#include "api/base/check.h"
#include "api/base/id.h"
#include "api/base/sha256.h"

namespace slipway {

namespace {

constexpr std::int64_t first_slice_mark = std::int64_t{1} << 62;
constexpr std::size_t mark_digits = 16;
constexpr int rank_bits = 9;    // a slice has at most 256 hosts

std::uint64_t number_of(const std::string& digits) {
    std::uint64_t number = 0;
    std::from_chars(digits.data(), digits.data() + mark_digits, number, 16);
    return number;
}

}    // namespace

std::int64_t random_mark() {
    return std::int64_t(number_of(random_hex(mark_digits / 2)) >> 2) + 1;
}

std::int64_t slice_mark(const std::string& slice) {
    const auto number = std::int64_t(number_of(sha256_hex("slice " + slice)) >> 2);
    return first_slice_mark + (number >> rank_bits << rank_bits);
}

ProcessId id_of(std::int64_t number, std::int64_t mark) {
    return {.pid = pid_t(number), .start_ticks = -mark};
}

ProcessId id_of_member(std::int64_t number, const MarkedMember& member) {
    check(member.rank >= 0 && member.rank < 1 << rank_bits, "a rank fits into its id");
    return id_of(number, member.mark + member.rank);
}

bool is_job(const ProcessId& id) {
    return id.start_ticks < 0;
}

std::optional<MarkedMember> member_of(const ProcessId& id) {
    const std::int64_t mark = -id.start_ticks;
    if (mark < first_slice_mark) return std::nullopt;
    const std::int64_t rank = mark & ((std::int64_t{1} << rank_bits) - 1);
    return MarkedMember{.mark = mark - rank, .rank = int(rank)};
}

std::int64_t mark_of(const ProcessId& id) {
    const auto member = member_of(id);
    return member ? member->mark : -id.start_ticks;
}

}    // namespace slipway

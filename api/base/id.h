#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "api/base/clock.h"

namespace slipway {

/// A new id such as "job_06c4n2…": `kind`, "_", then a UUIDv7 in 26 lower-case base32 characters
/// (Crockford's alphabet). Ids of one kind sort by the time they were made, to the
/// microsecond. Safe from every thread.
std::string new_id(std::string_view kind, const Clock& clock = system_clock());

/// The first id of the kind that a clock which shows `time` can make: ids below it are older.
std::string first_id_at(std::string_view kind, Instant time);

/// True when `text` is an id of this kind: the only test that user-given ids must pass before use.
bool is_id(std::string_view kind, std::string_view text);

/// `byte_count` bytes from the kernel's generator, in lower-case hexadecimal (for tokens and
/// fences).
std::string random_hex(std::size_t byte_count);

/// Fills `bytes` from the kernel's generator.
void random_bytes(std::span<std::uint8_t> bytes);

}    // namespace slipway

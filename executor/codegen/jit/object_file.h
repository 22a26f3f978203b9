#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace slipway {

/// A part of an object that is in memory while its code runs.
struct ObjectSection {
    std::size_t number = 0;    ///< in the object, as symbols and relocations name it
    std::span<const std::byte> bytes;
    std::size_t alignment = 1;
    bool is_code = false;
};

/// A name of an object, or one that it leaves to whoever loads it.
struct ObjectSymbol {
    std::string_view name;
    std::size_t section = 0;    ///< number of the section that holds it; 0: it is elsewhere
    std::uint64_t offset = 0;
};

/// A place that gets the address of a symbol, once it is known where everything is.
struct ObjectRelocation {
    std::size_t section = 0;
    std::uint64_t offset = 0;
    std::uint32_t type = 0;    ///< R_X86_64_…
    std::size_t symbol = 0;    ///< position in ObjectFile::symbols
    std::int64_t addend = 0;
};

/// What an ELF object for x86-64 (a relocatable file) says, as views into its bytes. Tables for
/// unwinding are left out: nothing is thrown through a kernel.
struct ObjectFile {
    std::vector<ObjectSection> sections;
    std::vector<ObjectSymbol> symbols;
    std::vector<ObjectRelocation> relocations;    ///< of these sections
};

/// errors  throws internal: the bytes are no such object
ObjectFile read_object(std::span<const std::byte> bytes);

/// Bytes of machine code in an object: its tables and names are not counted.
std::int64_t code_bytes(std::span<const std::byte> object);

}    // namespace slipway

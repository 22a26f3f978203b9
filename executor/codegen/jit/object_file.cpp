#include "executor/codegen/jit/object_file.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "api/base/error.h"

// The bytes come from the compiler, or from its cache, which compared their checksum: a bound that
// does not hold is a bug, and is found before anything is read there.
namespace slipway {

namespace {

[[noreturn]] void refuse(std::string_view what) {
    throw Error(ErrorCode::internal, fmt::format("a kernel's object cannot be read: {}", what));
}

std::span<const std::byte> part(std::span<const std::byte> bytes, std::uint64_t begin,
                                std::uint64_t length) {
    if (begin > bytes.size() || length > bytes.size() - begin) refuse("it is cut off");
    return bytes.subspan(begin, length);
}

template <class Record>
Record record_at(std::span<const std::byte> bytes, std::uint64_t begin) {
    Record record;
    std::memcpy(&record, part(bytes, begin, sizeof record).data(), sizeof record);
    return record;
}

template <class Record>
std::vector<Record> records_in(std::span<const std::byte> bytes) {
    if (bytes.size() % sizeof(Record) != 0) refuse("a table is cut off");
    std::vector<Record> records(bytes.size() / sizeof(Record));
    if (!records.empty()) std::memcpy(records.data(), bytes.data(), bytes.size());
    return records;
}

std::string_view name_at(std::span<const std::byte> names, std::uint64_t begin) {
    const auto rest =
        part(names, begin, names.size() - std::min<std::uint64_t>(begin, names.size()));
    const auto end = std::ranges::find(rest, std::byte{0});
    if (end == rest.end()) refuse("a name does not end");
    return {reinterpret_cast<const char*>(rest.data()), std::size_t(end - rest.begin())};
}

/// The headers of an object's sections, and the bytes of each.
struct Sections {
    std::vector<Elf64_Shdr> headers;
    std::span<const std::byte> object;

    const Elf64_Shdr& header(std::size_t number) const {
        if (number >= headers.size()) refuse("it names a section that it does not have");
        return headers[number];
    }
    std::span<const std::byte> bytes(std::size_t number) const {
        const Elf64_Shdr& of = header(number);
        return part(object, of.sh_offset, of.sh_type == SHT_NOBITS ? 0 : of.sh_size);
    }
};

Sections read_sections(std::span<const std::byte> object) {
    const auto head = record_at<Elf64_Ehdr>(object, 0);
    const bool is_ours = std::memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
                         head.e_ident[EI_CLASS] == ELFCLASS64 && head.e_type == ET_REL &&
                         head.e_machine == EM_X86_64 && head.e_shentsize == sizeof(Elf64_Shdr);
    if (!is_ours) refuse("it is no relocatable ELF file for x86-64");
    const std::uint64_t table_bytes = std::uint64_t(head.e_shnum) * sizeof(Elf64_Shdr);
    return {.headers = records_in<Elf64_Shdr>(part(object, head.e_shoff, table_bytes)),
            .object = object};
}

bool is_loaded(const Elf64_Shdr& section) {
    return (section.sh_flags & SHF_ALLOC) != 0 && section.sh_type == SHT_PROGBITS;
}

bool is_code(const Elf64_Shdr& section) {
    return (section.sh_flags & SHF_EXECINSTR) != 0;
}

void add_symbols(ObjectFile& file, const Sections& sections, const Elf64_Shdr& table,
                 std::span<const std::byte> bytes) {
    const auto names = sections.bytes(table.sh_link);
    for (const auto& symbol : records_in<Elf64_Sym>(bytes)) {
        const bool is_special = symbol.st_shndx >= SHN_LORESERVE;
        file.symbols.push_back({.name = name_at(names, symbol.st_name),
                                .section = is_special ? std::size_t{SHN_UNDEF} : symbol.st_shndx,
                                .offset = symbol.st_value});
    }
}

void add_relocations(ObjectFile& file, std::size_t section, std::span<const std::byte> bytes) {
    for (const auto& relocation : records_in<Elf64_Rela>(bytes))
        file.relocations.push_back({.section = section,
                                    .offset = relocation.r_offset,
                                    .type = std::uint32_t(ELF64_R_TYPE(relocation.r_info)),
                                    .symbol = std::size_t(ELF64_R_SYM(relocation.r_info)),
                                    .addend = relocation.r_addend});
}

bool is_unwinding_table(const Sections& sections, std::size_t number,
                        std::span<const std::byte> names) {
    return name_at(names, sections.header(number).sh_name) == ".eh_frame";
}

}    // namespace

ObjectFile read_object(std::span<const std::byte> bytes) {
    const Sections sections = read_sections(bytes);
    const auto names = sections.bytes(record_at<Elf64_Ehdr>(bytes, 0).e_shstrndx);
    ObjectFile file;
    for (std::size_t i = 0; i < sections.headers.size(); ++i) {
        const Elf64_Shdr& header = sections.headers[i];
        if (is_loaded(header) && header.sh_size > 0 && !is_unwinding_table(sections, i, names))
            file.sections.push_back({.number = i,
                                     .bytes = sections.bytes(i),
                                     .alignment = std::max<std::size_t>(header.sh_addralign, 1),
                                     .is_code = is_code(header)});
        if (header.sh_type == SHT_NOBITS && header.sh_size > 0) refuse("it has variables");
        if (header.sh_type == SHT_SYMTAB) add_symbols(file, sections, header, sections.bytes(i));
    }
    for (std::size_t i = 0; i < sections.headers.size(); ++i) {
        const Elf64_Shdr& header = sections.headers[i];
        const auto is_target = [&header](const ObjectSection& section) {
            return section.number == header.sh_info;
        };
        if (header.sh_type == SHT_RELA && std::ranges::any_of(file.sections, is_target))
            add_relocations(file, header.sh_info, sections.bytes(i));
    }
    return file;
}

std::int64_t code_bytes(std::span<const std::byte> object) {
    std::int64_t bytes = 0;
    for (const ObjectSection& section : read_object(object).sections)
        if (section.is_code) bytes += std::int64_t(section.bytes.size());
    return bytes;
}

}    // namespace slipway

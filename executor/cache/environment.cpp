#include "executor/cache/environment.h"

#include <cpuid.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>

namespace slipway {

namespace {

struct Answer {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Answer ask_cpu(unsigned input, unsigned subinput) {
    Answer answer;
    __get_cpuid_count(input, subinput, &answer.eax, &answer.ebx, &answer.ecx, &answer.edx);
    return answer;
}

/// The registers that the system saves, and so lets programs use.
std::uint64_t saved_registers() {
    constexpr unsigned osxsave = 1U << 27;
    if ((ask_cpu(1, 0).ecx & osxsave) == 0) return 0;
    unsigned low = 0, high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return std::uint64_t(high) << 32 | low;
}

std::size_t padded(std::size_t bytes) {
    return (bytes + 3) / 4 * 4;
}

/// The note NT_GNU_BUILD_ID among the notes of one segment.
std::string build_id_in(const char* notes, std::size_t bytes) {
    while (bytes >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) head;
        std::memcpy(&head, notes, sizeof head);
        const std::size_t name = sizeof head;
        const std::size_t text = name + padded(head.n_namesz);
        const std::size_t next = text + padded(head.n_descsz);
        if (next > bytes) break;
        if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 &&
            std::memcmp(notes + name, "GNU", 4) == 0) {
            std::string id;
            for (std::size_t i = 0; i < head.n_descsz; ++i)
                id += fmt::format("{:02x}", static_cast<unsigned char>(notes[text + i]));
            return id;
        }
        notes += next;
        bytes -= next;
    }
    return {};
}

std::string build_id_of(const dl_phdr_info& object) {
    std::string id;
    for (int i = 0; i < object.dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = object.dlpi_phdr[i];
        if (segment.p_type != PT_NOTE) continue;
        const std::string found = build_id_in(
            reinterpret_cast<const char*>(object.dlpi_addr + segment.p_vaddr), segment.p_memsz);
        if (!found.empty()) id = found;
    }
    return id;
}

/// The first object is the program itself: a value other than 0 ends the walk.
int visit_program(dl_phdr_info* object, std::size_t, void* result) {
    *static_cast<std::string*>(result) = build_id_of(*object);
    return 1;
}

bool holds(const dl_phdr_info& object, std::uintptr_t address) {
    const std::span segments(object.dlpi_phdr, object.dlpi_phnum);
    return std::ranges::any_of(segments, [&](const ElfW(Phdr) & segment) {
        return segment.p_type == PT_LOAD &&
               address - (object.dlpi_addr + segment.p_vaddr) < segment.p_memsz;
    });
}

struct Search {
    std::uintptr_t address = 0;
    std::string mark;
};

int visit_object(dl_phdr_info* object, std::size_t, void* data) {
    Search& search = *static_cast<Search*>(data);
    if (!holds(*object, search.address)) return 0;
    search.mark = build_id_of(*object);
    return 1;
}

}    // namespace

std::string build_mark() {
    std::string id;
    dl_iterate_phdr(visit_program, &id);
    if (!id.empty()) return id;
    struct stat program {};
    if (stat("/proc/self/exe", &program) != 0) return "unknown";
    return fmt::format("{}-{}.{:09}", program.st_size, program.st_mtim.tv_sec,
                       program.st_mtim.tv_nsec);
}

std::string build_mark_around(const void* address) {
    Search search{.address = reinterpret_cast<std::uintptr_t>(address), .mark = {}};
    dl_iterate_phdr(visit_object, &search);
    return search.mark;
}

namespace {

std::string ask_cpu_mark() {
    // Input 1's ebx is left out: it names the core that happens to answer.
    const Answer vendor = ask_cpu(0, 0), model = ask_cpu(1, 0), features = ask_cpu(7, 0);
    const Answer more = ask_cpu(7, 1), extended = ask_cpu(0x80000001, 0), state = ask_cpu(0xd, 1);
    const std::array<unsigned, 16> words{vendor.ebx,   vendor.ecx,   vendor.edx,   model.eax,
                                         model.ecx,    model.edx,    features.ebx, features.ecx,
                                         features.edx, more.eax,     more.ebx,     more.edx,
                                         extended.ecx, extended.edx, state.eax,    0};
    std::string mark;
    for (const unsigned word : words)
        mark += fmt::format("{:08x}", word);
    return fmt::format("{}-{:x}", mark, saved_registers());
}

}    // namespace

std::string cpu_mark() {
    // A virtual machine answers each question after a way out of it and back.
    static const std::string mark = ask_cpu_mark();
    return mark;
}

std::string cache_environment(std::string_view compiler) {
    return fmt::format("build {}; compiler {}; cpu {}", build_mark(), compiler, cpu_mark());
}

}    // namespace slipway

// An object becomes one mapping of memory: its sections one after the other, then a jump for each
// function that is outside of it. It is written, then made executable and never written again. All
// is near together, so 32 bits reach everywhere, and a jump through a whole address reaches the C
// library. LLVM's own loader did the same for any object of any machine; it asks for LLVM in every
// process, also in those that compile nothing (docs/decisions/0057).
#include "executor/codegen/jit/kernel_loader.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <utility>

#include "api/base/error.h"
#include "executor/codegen/jit/object_file.h"
#include "executor/codegen/loops/compile_target.h"

namespace slipway {

namespace {

using Bytes = std::span<std::byte>;

[[noreturn]] void refuse(const std::string& what) {
    throw Error(ErrorCode::internal, fmt::format("a kernel cannot be loaded: {}", what));
}

/// What the compiler calls beside the kernel's own code.
struct Function {
    std::string_view name;
    const void* address;
};

template <class Pointer>
const void* address_of(Pointer function) {
    return reinterpret_cast<const void*>(function);
}

std::span<const Function> outside_functions() {
    static const std::array functions{
        Function{"memcpy", address_of(&std::memcpy)},
        Function{"memmove", address_of(&std::memmove)},
        Function{"memset", address_of(&std::memset)},
        Function{"fmod", address_of(static_cast<double (*)(double, double)>(&::fmod))},
        Function{"fmodf", address_of(static_cast<float (*)(float, float)>(&::fmodf))},
    };
    return functions;
}

const void* outside_function(std::string_view name) {
    const auto functions = outside_functions();
    const auto found = std::ranges::find(functions, name, &Function::name);
    if (found == functions.end()) refuse(fmt::format("there is no function {} for it", name));
    return found->address;
}

/// jmp *0(%rip), and the address that it reads.
constexpr std::array<std::uint8_t, 6> jump_instruction{0xff, 0x25, 0, 0, 0, 0};
constexpr std::size_t jump_bytes = jump_instruction.size() + sizeof(void*);

/// Where the parts of an object lie in its image.
struct Layout {
    std::map<std::size_t, std::size_t> sections;    // by number
    std::map<std::size_t, std::size_t> jumps;       // by symbol
    std::size_t bytes = 0;
};

const ObjectSymbol& symbol_of(const ObjectFile& file, const ObjectRelocation& relocation) {
    if (relocation.symbol >= file.symbols.size()) refuse("a symbol is missing");
    return file.symbols[relocation.symbol];
}

Layout layout_of(const ObjectFile& file) {
    const auto page_bytes = std::size_t(sysconf(_SC_PAGESIZE));
    Layout layout;
    for (const ObjectSection& section : file.sections) {
        if (section.alignment > page_bytes) refuse("a section is aligned to more than a page");
        layout.bytes =
            (layout.bytes + section.alignment - 1) / section.alignment * section.alignment;
        layout.sections[section.number] = layout.bytes;
        layout.bytes += section.bytes.size();
    }
    for (const ObjectRelocation& relocation : file.relocations)
        if (symbol_of(file, relocation).section == SHN_UNDEF &&
            layout.jumps.emplace(relocation.symbol, layout.bytes).second)
            layout.bytes += jump_bytes;
    layout.bytes = (layout.bytes + page_bytes - 1) / page_bytes * page_bytes;
    return layout;
}

std::size_t offset_of(const Layout& layout, const ObjectSymbol& symbol) {
    const auto section = layout.sections.find(symbol.section);
    if (section == layout.sections.end()) refuse("a symbol is in a part that is not loaded");
    return section->second + symbol.offset;
}

void put(Bytes image, std::size_t at, const void* value, std::size_t bytes) {
    if (at > image.size() || bytes > image.size() - at) refuse("a relocation is outside of it");
    std::memcpy(image.data() + at, value, bytes);
}

void write_jumps(Bytes image, const ObjectFile& file, const Layout& layout) {
    for (const auto& [symbol, at] : layout.jumps) {
        const void* const target = outside_function(file.symbols[symbol].name);
        put(image, at, jump_instruction.data(), jump_instruction.size());
        put(image, at + jump_instruction.size(), &target, sizeof target);
    }
}

/// By the System V ABI for AMD64, table "Relocation Types": S + A, or S + A - P in 32 bits.
void relocate(Bytes image, const ObjectFile& file, const Layout& layout,
              const ObjectRelocation& relocation) {
    const std::size_t place = layout.sections.at(relocation.section) + relocation.offset;
    const auto jump = layout.jumps.find(relocation.symbol);
    const std::size_t target =
        jump != layout.jumps.end() ? jump->second : offset_of(layout, symbol_of(file, relocation));
    if (target > image.size()) refuse("a symbol is outside of it");
    switch (relocation.type) {
        case R_X86_64_64: {
            const auto address = reinterpret_cast<std::uintptr_t>(image.data()) + target +
                                 std::uint64_t(relocation.addend);
            return put(image, place, &address, sizeof address);
        }
        case R_X86_64_PC32:
        case R_X86_64_PLT32: {
            const std::int64_t distance =
                std::int64_t(target) + relocation.addend - std::int64_t(place);
            const auto stored = std::int32_t(distance);
            if (stored != distance) refuse("a symbol is too far away");
            return put(image, place, &stored, sizeof stored);
        }
        default:
            refuse(fmt::format("relocations of type {} are not known", relocation.type));
    }
}

void fill(Bytes image, const ObjectFile& file, const Layout& layout) {
    for (const ObjectSection& section : file.sections)
        put(image, layout.sections.at(section.number), section.bytes.data(), section.bytes.size());
    write_jumps(image, file, layout);
    for (const ObjectRelocation& relocation : file.relocations)
        relocate(image, file, layout, relocation);
}

std::size_t entry_of(const ObjectFile& file, const Layout& layout) {
    const auto found = std::ranges::find(file.symbols, kernel_symbol, &ObjectSymbol::name);
    if (found == file.symbols.end()) refuse(fmt::format("it has no function {}", kernel_symbol));
    const std::size_t entry = offset_of(layout, *found);
    if (entry >= layout.bytes) refuse("its function is outside of it");
    return entry;
}

[[noreturn]] void fail(const char* what) {
    throw Error(ErrorCode::exhausted,
                fmt::format("memory for a kernel cannot be {}: {}", what, std::strerror(errno)));
}

/// Memory that is given back unless it is kept.
class Image {
public:
    explicit Image(std::size_t bytes) {
        void* const made =
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (made == MAP_FAILED) fail("had");
        bytes_ = {static_cast<std::byte*>(made), bytes};
    }
    ~Image() {
        if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
    }
    Image(const Image&) = delete;
    Image& operator=(const Image&) = delete;

    Bytes bytes() const { return bytes_; }
    void make_executable() const {
        if (mprotect(bytes_.data(), bytes_.size(), PROT_READ | PROT_EXEC) != 0)
            fail("made executable");
    }
    Bytes keep() { return std::exchange(bytes_, {}); }

private:
    Bytes bytes_;
};

}    // namespace

LoopFunctionPointer KernelLoader::load(std::span<const std::byte> object) {
    const ObjectFile file = read_object(object);
    const Layout layout = layout_of(file);
    const std::size_t entry = entry_of(file, layout);
    Image image(layout.bytes);
    fill(image.bytes(), file, layout);
    image.make_executable();
    const auto function = reinterpret_cast<LoopFunctionPointer>(image.bytes().data() + entry);
    const std::lock_guard lock(mutex_);
    images_.emplace_back();
    images_.back() = image.keep();
    return function;
}

KernelLoader::~KernelLoader() {
    for (const Bytes& image : images_)
        munmap(image.data(), image.size());
}

}    // namespace slipway

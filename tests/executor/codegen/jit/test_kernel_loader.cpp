// Goal: an object of the compiler runs wherever it lies, and bytes that are none are refused before
// any of them runs. Method: real objects, whole, cut, and with their tables changed.

#include "executor/codegen/jit/kernel_loader.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/error.h"
#include "executor/codegen/jit/compiler.h"
#include "executor/codegen/jit/object_file.h"

namespace slipway {
namespace {

/// y = x op x, element by element.
LoopKernel kernel_of(OpCode op) {
    LoopKernel kernel{.extents = {0}, .flat = true, .values = {}, .stores = {}};
    kernel.values.push_back({.kind = LoopValueKind::load, .access = {.buffer = 0, .strides = {1}}});
    kernel.values.push_back({.kind = LoopValueKind::load, .access = {.buffer = 1, .strides = {1}}});
    kernel.values.push_back({.kind = LoopValueKind::compute, .op = op, .operands = {0, 1}});
    kernel.stores.push_back({.value = 2, .to = {.buffer = 0, .strides = {1}}});
    kernel.reads = 2;
    kernel.writes = 1;
    return kernel;
}

std::array<float, 5> run(LoopFunctionPointer function) {
    const std::array<float, 5> x{7.5F, -7.5F, 1, 2, 100};
    const std::array<float, 5> y{2, 2, 4, 2, 7};
    std::array<float, 5> z{};
    const std::array reads{reinterpret_cast<const std::byte*>(x.data()),
                           reinterpret_cast<const std::byte*>(y.data())};
    const std::array writes{reinterpret_cast<std::byte*>(z.data())};
    function(reads.data(), writes.data(), 0, 5);
    return z;
}

std::vector<std::byte> object_of(OpCode op) {
    return compile(kernel_of(op), host_target());
}

/// The record number `index` of the first table of this type.
template <class Record, class Change>
std::vector<std::byte> changed(std::vector<std::byte> object, unsigned type, std::size_t index,
                               Change change) {
    Elf64_Ehdr head;
    std::memcpy(&head, object.data(), sizeof head);
    for (std::size_t i = 0; i < head.e_shnum; ++i) {
        Elf64_Shdr section;
        std::memcpy(&section, object.data() + head.e_shoff + i * sizeof section, sizeof section);
        if (section.sh_type != type) continue;
        std::byte* const place = object.data() + section.sh_offset + index * sizeof(Record);
        Record record;
        std::memcpy(&record, place, sizeof record);
        change(record);
        std::memcpy(place, &record, sizeof record);
        return object;
    }
    ADD_FAILURE() << "the object has no table of type " << type;
    return object;
}

void expect_refused(const std::vector<std::byte>& object) {
    KernelLoader loader;
    try {
        loader.load(object);
        ADD_FAILURE() << "was loaded";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::internal) << error.what();
    }
}

TEST(KernelLoader, runs_what_uses_the_c_library) {
    KernelLoader loader;
    const auto object = object_of(OpCode::remainder);
    bool calls = false;
    for (const ObjectSymbol& symbol : read_object(object).symbols)
        calls = calls || symbol.name == "fmodf";
    ASSERT_TRUE(calls) << "the compiler has another way now: choose another op for this test";
    const auto z = run(loader.load(object));
    EXPECT_EQ(z, (std::array{std::fmod(7.5F, 2.0F), std::fmod(-7.5F, 2.0F), 1.0F, 0.0F, 2.0F}));
}

TEST(KernelLoader, runs_what_reads_constants) {
    KernelLoader loader;
    const auto object = object_of(OpCode::power);
    EXPECT_GT(read_object(object).sections.size(), 1U) << "code and constants";
    const auto z = run(loader.load(object));
    EXPECT_FLOAT_EQ(z[0], 56.25F);
    EXPECT_FLOAT_EQ(z[4], 1e14F);
}

TEST(KernelLoader, objects_do_not_meet) {
    KernelLoader loader;
    const auto add = loader.load(object_of(OpCode::add));
    const auto multiply = loader.load(object_of(OpCode::multiply));
    EXPECT_NE(add, multiply);
    EXPECT_EQ(run(add)[0], 9.5F);
    EXPECT_EQ(run(multiply)[0], 15.0F);
}

TEST(KernelLoader, code_cannot_be_written) {
    KernelLoader loader;
    const auto function = loader.load(object_of(OpCode::add));
    std::ifstream maps("/proc/self/maps");
    const auto address = reinterpret_cast<std::uintptr_t>(function);
    std::string found;
    for (std::string line; std::getline(maps, line);) {
        std::uintptr_t begin = 0, end = 0;
        std::array<char, 5> rights{};
        if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, rights.data()) == 3 &&
            begin <= address && address < end)
            found = rights.data();
    }
    EXPECT_EQ(found, "r-xp");
}

TEST(KernelLoader, refuses_what_is_no_object) {
    expect_refused({});
    expect_refused(std::vector<std::byte>(1000));
    auto object = object_of(OpCode::power);
    for (std::size_t bytes = 0; bytes < object.size(); bytes += 7)
        expect_refused({object.begin(), object.begin() + std::ptrdiff_t(bytes)});
    object[EI_CLASS] = std::byte{ELFCLASS32};
    expect_refused(object);
}

TEST(KernelLoader, refuses_relocations_that_lead_outside) {
    const auto object = object_of(OpCode::power);
    const auto with = [&](auto change) { return changed<Elf64_Rela>(object, SHT_RELA, 0, change); };
    expect_refused(with([](Elf64_Rela& one) { one.r_offset = 1 << 30; }));
    expect_refused(with([](Elf64_Rela& one) { one.r_offset = ~0ULL; }));
    expect_refused(with([](Elf64_Rela& one) { one.r_addend = 1LL << 40; }));
    expect_refused(with([](Elf64_Rela& one) { one.r_info = ELF64_R_INFO(999, R_X86_64_PC32); }));
    expect_refused(with([](Elf64_Rela& one) {
        one.r_info = ELF64_R_INFO(ELF64_R_SYM(one.r_info), R_X86_64_TPOFF32);
    }));
}

TEST(KernelLoader, refuses_functions_that_it_does_not_know) {
    auto object = object_of(OpCode::remainder);
    const std::string_view name("fmodf\0", 6);
    const auto found = std::search(object.begin(), object.end(), name.begin(), name.end(),
                                   [](std::byte a, char b) { return char(a) == b; });
    ASSERT_NE(found, object.end());
    *found = std::byte{'g'};
    expect_refused(object);
}

TEST(KernelLoader, refuses_an_object_without_the_function) {
    auto object = object_of(OpCode::add);
    const std::string_view name(kernel_symbol);
    const auto found = std::search(object.begin(), object.end(), name.begin(), name.end(),
                                   [](std::byte a, char b) { return char(a) == b; });
    ASSERT_NE(found, object.end());
    *found = std::byte{'x'};
    expect_refused(object);
}

}    // namespace
}    // namespace slipway

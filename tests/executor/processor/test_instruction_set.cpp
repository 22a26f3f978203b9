#include "executor/processor/instruction_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>

#include "executor/codegen/jit/compiler.h"
#include "executor/codegen/onednn/matmul.h"

namespace slipway {
namespace {

TEST(InstructionSets, are_read_as_they_are_written) {
    for (const InstructionSet each : instruction_sets)
        EXPECT_EQ(instruction_set_from(to_string(each)), each);
    EXPECT_EQ(instruction_set_from("avx1024"), std::nullopt);
    EXPECT_EQ(instruction_set_from(""), std::nullopt);
}

// Goal: one variable holds the library and us to the same set. ctest runs this suite once for each
// set below the machine's own (tests/support/instruction_sets.cmake).
TEST(InstructionSets, are_held_to_what_the_environment_says) {
    const char* const limit = std::getenv("ONEDNN_MAX_CPU_ISA");
    if (limit == nullptr) return;
    std::string name = limit;
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    EXPECT_LE(instruction_set(), instruction_set_from(name).value_or(instruction_sets.back()));
}

TEST(InstructionSets, are_what_the_library_and_the_compiler_choose_by) {
    const InstructionSet used = instruction_set();
    EXPECT_EQ(multiplies_bf16(), used >= InstructionSet::avx512_core);
    EXPECT_EQ(multiplies_bf16_in_tiles(), used == InstructionSet::avx512_core_amx);
    EXPECT_EQ(host_target().lanes, used >= InstructionSet::avx512_core ? 16U : 8U);
    EXPECT_EQ(host_target().rounds_to_bf16, used >= InstructionSet::avx512_core_bf16);
}

}    // namespace
}    // namespace slipway

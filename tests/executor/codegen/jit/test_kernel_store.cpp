// Goal: a kernel is compiled once: in a process, and with a cache on disk on a machine.

#include "executor/codegen/jit/kernel_store.h"

#include <gtest/gtest.h>

#include <array>
#include <fstream>

#include "executor/cache/environment.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

LoopKernel doubled() {
    LoopKernel kernel{.extents = {0}, .flat = true, .values = {}, .stores = {}};
    kernel.values.push_back({.kind = LoopValueKind::load, .access = {.buffer = 0, .strides = {1}}});
    kernel.values.push_back(
        {.kind = LoopValueKind::compute, .op = OpCode::add, .operands = {0, 0}});
    kernel.stores.push_back({.value = 1, .to = {.buffer = 0, .strides = {1}}});
    kernel.reads = 1;
    kernel.writes = 1;
    return kernel;
}

float run(LoopFunctionPointer function, float x) {
    float y = 0;
    const std::array reads{reinterpret_cast<const std::byte*>(&x)};
    const std::array writes{reinterpret_cast<std::byte*>(&y)};
    function(reads.data(), writes.data(), 0, 1);
    return y;
}

struct StoredKernels : testing::Test {
    TempFolder temporary;

    ObjectCache cache() const {
        return ObjectCache({.folder = temporary.path() / "cache",
                            .environment = cache_environment(compiler_version())});
    }
};

TEST_F(StoredKernels, equal_kernels_are_one) {
    KernelStore store;
    EXPECT_EQ(store.get(doubled()), store.get(doubled()));
    EXPECT_EQ(store.size(), 1U);
    EXPECT_EQ(store.compiled(), 1U);
    EXPECT_GT(store.code_bytes(), 0U);
}

TEST_F(StoredKernels, another_process_finds_the_code_on_disk) {
    {
        ObjectCache first = cache();
        KernelStore store(&first);
        EXPECT_EQ(run(store.get(doubled()), 21), 42);
        EXPECT_EQ(store.compiled(), 1U);
    }
    ObjectCache second = cache();
    KernelStore store(&second);
    EXPECT_EQ(run(store.get(doubled()), 21), 42);
    EXPECT_EQ(store.compiled(), 0U);
    EXPECT_EQ(second.counts().hits, 1);
}

TEST_F(StoredKernels, damaged_code_is_compiled_again) {
    {
        ObjectCache first = cache();
        KernelStore(&first).get(doubled());
    }
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(temporary.path() / "cache")) {
        if (!entry.is_regular_file()) continue;
        std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(std::streamoff(entry.file_size() / 2));
        file << "damage";
    }
    ObjectCache second = cache();
    KernelStore store(&second);
    EXPECT_EQ(run(store.get(doubled()), 21), 42);
    EXPECT_EQ(store.compiled(), 1U);
}

}    // namespace
}    // namespace slipway

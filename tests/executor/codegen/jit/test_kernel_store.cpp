// Goal: a kernel is compiled once: in a process, and with a cache on disk on a machine.

#include "executor/codegen/jit/kernel_store.h"

#include <gtest/gtest.h>

#include <array>
#include <fstream>

#include "executor/cache/environment.h"
#include "executor/codegen/jit/object_file.h"
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

float run(const LoopCode& code, float x) {
    float y = 0;
    const std::array reads{reinterpret_cast<const std::byte*>(&x)};
    const std::array writes{reinterpret_cast<std::byte*>(&y)};
    code.function(reads.data(), writes.data(), 0, 1);
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
    EXPECT_EQ(&store.get(doubled()), &store.get(doubled()));
    EXPECT_EQ(store.size(), 1U);
    EXPECT_EQ(store.compiled(), 1U);
}

TEST_F(StoredKernels, bytes_are_those_of_the_machine_code) {
    ObjectCache first = cache();
    KernelStore store(&first);
    const std::int64_t bytes = store.get(doubled()).bytes;
    const auto object = compile(doubled(), host_target());
    EXPECT_EQ(bytes, code_bytes(object));
    // A loop over vectors and one over what is left of them, in an object with names and tables.
    EXPECT_GT(bytes, 20);
    EXPECT_LT(bytes, std::int64_t(object.size()));
    ObjectCache second = cache();
    EXPECT_EQ(KernelStore(&second).get(doubled()).bytes, bytes) << "found on disk";
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

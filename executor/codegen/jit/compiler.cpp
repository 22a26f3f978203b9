#include "executor/codegen/jit/compiler.h"

#include <fmt/format.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/ExecutionEngine/Orc/CompileUtils.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Mem2Reg.h>

#include <cstring>
#include <mutex>

#include "api/base/check.h"
#include "api/base/error.h"
#include "executor/codegen/jit/kernel_loader.h"
#include "executor/codegen/jit/loop_emitter.h"
#include "executor/codegen/jit/loop_plan.h"

// The emitter already writes vectors, so LLVM runs only the passes that keep variables in registers
// and move what is invariant out of loops. An object is position-independent and depends only on
// the kernel's text, the target and emitter_version, so it can be stored and loaded by another
// process.
namespace slipway {

namespace {

// Raise it whenever the emitter gives other instructions for the same kernel.
constexpr int emitter_version = 4;

void initialize_llvm() {
    static std::once_flag once;
    std::call_once(once, [] {
        llvm::InitializeNativeTarget();
        llvm::InitializeNativeTargetAsmPrinter();
    });
}

/// LLVM refused what cannot be refused: a bug of ours, or no memory.
[[noreturn]] void fail(const char* what, llvm::Error error) {
    throw Error(ErrorCode::internal, fmt::format("{}: {}", what, llvm::toString(std::move(error))));
}

template <class T>
T value_or_fail(const char* what, llvm::Expected<T> value) {
    if (!value) fail(what, value.takeError());
    return std::move(*value);
}

std::unique_ptr<llvm::TargetMachine> machine_for(const CompileTarget& target) {
    initialize_llvm();
    const std::string triple = llvm::sys::getProcessTriple();
    std::string problem;
    const llvm::Target* const found = llvm::TargetRegistry::lookupTarget(triple, problem);
    if (found == nullptr) throw Error(ErrorCode::internal, "no code for this machine: " + problem);
    llvm::TargetOptions options;
    // Multiply and add are fused where the emitter says so, and nowhere else.
    options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
    return std::unique_ptr<llvm::TargetMachine>(
        found->createTargetMachine(triple, target.cpu, target.features, options, llvm::Reloc::PIC_,
                                   llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default, true));
}

/// The emitter writes vectors itself: what is left is to keep variables in registers and what
/// does not change out of loops.
void optimize(llvm::Module& module, llvm::TargetMachine& machine) {
    llvm::PassBuilder builder(&machine);
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager graph;
    llvm::ModuleAnalysisManager modules;
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(graph);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, graph, modules);
    llvm::FunctionPassManager passes;
    passes.addPass(llvm::PromotePass());
    passes.addPass(llvm::EarlyCSEPass());
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(llvm::EarlyCSEPass());    // what is now seen to be equal
    passes.addPass(
        llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), true));
    passes.addPass(llvm::SimplifyCFGPass());
    for (llvm::Function& function : module)
        if (!function.isDeclaration()) passes.run(function, functions);
}

/// Takes half a millisecond, and a process may run many short attempts.
CompileTarget find_host_target() {
    initialize_llvm();
    CompileTarget target{.cpu = llvm::sys::getHostCPUName().str(), .features = {}};
    const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
    std::vector<std::string> sorted;
    for (const auto& feature : features)
        sorted.push_back((feature.second ? "+" : "-") + feature.first().str());
    std::ranges::sort(sorted, {}, [](const std::string& text) { return text.substr(1); });
    for (const std::string& feature : sorted)
        target.features += (target.features.empty() ? "" : ",") + feature;
    const auto has = [&](const char* name) { return features.lookup(name); };
    const bool is_wide = has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl");
    target.lanes = is_wide ? 16 : 8;
    target.rounds_to_bf16 = is_wide && has("avx512bf16");
    return target;
}

}    // namespace

CompileTarget host_target() {
    static const CompileTarget target = find_host_target();
    return target;
}

std::string compiler_version() {
    return fmt::format("llvm {} emitter {}", LLVM_VERSION_STRING, emitter_version);
}

std::int64_t scratch_bytes(const LoopKernel& kernel) {
    return plan_of(kernel).scratch_bytes;
}

std::vector<std::byte> compile(const LoopKernel& kernel, const CompileTarget& target) {
    for (const LoopValue& value : kernel.values)
        if (!is_loop_type(value.dtype))
            throw Error(ErrorCode::invalid_argument,
                        fmt::format("programs do not run {}", to_string(value.dtype)));
    const std::string problem = find_problem(kernel);
    check(problem.empty(), problem);
    const std::unique_ptr<llvm::TargetMachine> machine = machine_for(target);
    llvm::LLVMContext context;
    llvm::Module module("kernel", context);
    module.setTargetTriple(machine->getTargetTriple().str());
    module.setDataLayout(machine->createDataLayout());
    emit_loop_kernel(module, kernel_symbol, kernel, plan_of(kernel), target);
    check(!llvm::verifyModule(module), "the emitter makes valid functions");
    optimize(module, *machine);
    const std::unique_ptr<llvm::MemoryBuffer> object =
        value_or_fail("compile", llvm::orc::SimpleCompiler(*machine)(module));
    std::vector<std::byte> bytes(object->getBufferSize());
    std::memcpy(bytes.data(), object->getBufferStart(), bytes.size());
    return bytes;
}

}    // namespace slipway

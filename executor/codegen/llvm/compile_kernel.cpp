#include "executor/codegen/llvm/compile_kernel.h"

#include <fmt/format.h>
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
#include "executor/codegen/llvm/loop_emitter.h"
#include "executor/codegen/loops/loop_plan.h"

// The emitter already writes vectors, so LLVM runs only the passes that keep variables in registers
// and move what is invariant out of loops. An object is position-independent and depends only on
// the kernel's text, the target, the CPU and this very build, so it can be stored and loaded by
// another process.
namespace slipway {

namespace {

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

/// The CPU that this process runs on, as LLVM names it.
struct Host {
    std::string cpu;
    std::string features;    ///< "+avx512f,-xop...": exactly what the CPU has
};

Host find_host() {
    Host host{.cpu = llvm::sys::getHostCPUName().str(), .features = {}};
    const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
    std::vector<std::string> sorted;
    for (const auto& feature : features)
        sorted.push_back((feature.second ? "+" : "-") + feature.first().str());
    std::ranges::sort(sorted, {}, [](const std::string& text) { return text.substr(1); });
    for (const std::string& feature : sorted)
        host.features += (host.features.empty() ? "" : ",") + feature;
    return host;
}

std::unique_ptr<llvm::TargetMachine> host_machine() {
    initialize_llvm();
    static const Host host = find_host();    // takes half a millisecond
    const std::string triple = llvm::sys::getProcessTriple();
    std::string problem;
    const llvm::Target* const found = llvm::TargetRegistry::lookupTarget(triple, problem);
    if (found == nullptr) throw Error(ErrorCode::internal, "no code for this machine: " + problem);
    llvm::TargetOptions options;
    // Multiply and add are fused where the emitter says so, and nowhere else.
    options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
    return std::unique_ptr<llvm::TargetMachine>(
        found->createTargetMachine(triple, host.cpu, host.features, options, llvm::Reloc::PIC_,
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

}    // namespace

std::vector<std::byte> compile_kernel(const LoopKernel& kernel, const CompileTarget& target) {
    for (const LoopValue& value : kernel.values)
        if (!is_loop_type(value.dtype))
            throw Error(ErrorCode::invalid_argument,
                        fmt::format("programs do not run {}", to_string(value.dtype)));
    const std::string problem = find_problem(kernel);
    check(problem.empty(), problem);
    const std::unique_ptr<llvm::TargetMachine> machine = host_machine();
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

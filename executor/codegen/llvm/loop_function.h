#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace slipway {

/// A kernel's function in the making: its builder, its variables, its control flow.
class LoopFunction {
public:
    explicit LoopFunction(llvm::Module& module) : b_(module.getContext()), module_(module) {}

protected:
    /// void symbol(reads, writes, begin, end), with vectors of so many bits.
    void begin(const std::string& symbol, unsigned vector_bits) {
        llvm::Type* const pointer = b_.getPtrTy();
        llvm::Type* const number = b_.getInt64Ty();
        function_ = llvm::Function::Create(
            llvm::FunctionType::get(b_.getVoidTy(), {pointer, pointer, number, number}, false),
            llvm::Function::ExternalLinkage, symbol, module_);
        function_->addFnAttr(llvm::Attribute::NoUnwind);
        function_->addFnAttr("prefer-vector-width", std::to_string(vector_bits));
        function_->addFnAttr("min-legal-vector-width", std::to_string(vector_bits));
        b_.SetInsertPoint(llvm::BasicBlock::Create(b_.getContext(), "entry", function_));
    }

    /// A variable of the function: promoted to a register when all is written.
    llvm::AllocaInst* variable(llvm::Type* type) {
        llvm::BasicBlock& entry = function_->getEntryBlock();
        llvm::IRBuilder<> at_entry(&entry, entry.begin());
        return at_entry.CreateAlloca(type);
    }

    llvm::Value* count(std::int64_t n) { return b_.getInt64(std::uint64_t(n)); }

    /// for (i = begin; i < end; i += step) body(i); returns i as it ends.
    template <class Body>
    llvm::Value* loop(llvm::Value* begin, llvm::Value* end, std::int64_t step, Body&& body) {
        llvm::BasicBlock* const before = b_.GetInsertBlock();
        auto* const head = llvm::BasicBlock::Create(b_.getContext(), "head", function_);
        auto* const inside = llvm::BasicBlock::Create(b_.getContext(), "body", function_);
        auto* const after = llvm::BasicBlock::Create(b_.getContext(), "after", function_);
        b_.CreateBr(head);
        b_.SetInsertPoint(head);
        llvm::PHINode* const i = b_.CreatePHI(b_.getInt64Ty(), 2);
        i->addIncoming(begin, before);
        b_.CreateCondBr(b_.CreateICmpSLT(i, end), inside, after);
        b_.SetInsertPoint(inside);
        body(i);
        i->addIncoming(b_.CreateNSWAdd(i, count(step)), b_.GetInsertBlock());
        b_.CreateBr(head);
        b_.SetInsertPoint(after);
        return i;
    }

    template <class Body>
    void if_true(llvm::Value* condition, Body&& body) {
        auto* const inside = llvm::BasicBlock::Create(b_.getContext(), "then", function_);
        auto* const after = llvm::BasicBlock::Create(b_.getContext(), "after", function_);
        b_.CreateCondBr(condition, inside, after);
        b_.SetInsertPoint(inside);
        body();
        b_.CreateBr(after);
        b_.SetInsertPoint(after);
    }

    llvm::Value* loaded(llvm::AllocaInst* variable) {
        return b_.CreateLoad(variable->getAllocatedType(), variable);
    }

    llvm::Value* advanced(llvm::Value* sum, llvm::Value* by, std::int64_t stride) {
        if (stride == 0) return sum;
        return b_.CreateAdd(sum, b_.CreateMul(by, count(stride)));
    }

    /// 0, 1, 2...: a vector.
    llvm::Value* lane_numbers(unsigned lanes) {
        std::vector<std::uint32_t> numbers(lanes);
        std::iota(numbers.begin(), numbers.end(), 0U);
        return llvm::ConstantDataVector::get(b_.getContext(), numbers);
    }

    llvm::IRBuilder<> b_;
    llvm::Function* function_ = nullptr;

private:
    llvm::Module& module_;    // outlives the function's making
};

}    // namespace slipway

#include "executor/codegen/loops/loop_kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "executor/graph/op_table.h"

// The text of a kernel is what its compiled object is found by, so it names operations, not their
// numbers. find_problem checks everything that the emitter takes for granted before code is made.
// coalesce joins neighbouring loops whose strides continue each other in every access: fewer loops
// mean fewer counters, and a longer innermost one fills whole vectors.
namespace slipway {

namespace {

std::string text_of(const LoopAccess& access) {
    std::string text =
        fmt::format("{}[{}+{}", access.buffer, fmt::join(access.strides, ","), access.offset);
    for (const LoopAccess::Term& term : access.terms)
        text += fmt::format("+v{}*{}", term.index, term.stride);
    return text + "]";
}

std::string text_of(const LoopValue& value) {
    switch (value.kind) {
        case LoopValueKind::load:
            return "load r" + text_of(value.access);
        case LoopValueKind::constant:
            return fmt::format("constant {:016x}", std::bit_cast<std::uint64_t>(value.number));
        case LoopValueKind::counter:
            return "counter " + text_of(value.access);
        case LoopValueKind::compute:
            // Stored objects are found by this text: an op keeps its name, not its number.
            return fmt::format("{}.{} {}", name_of(value.op), int(value.direction),
                               fmt::join(value.operands, " "));
        case LoopValueKind::reduce:
            return fmt::format("reduce{} {}", int(value.reduction), value.operands[0]);
    }
    return "?";
}

class Checker {
public:
    explicit Checker(const LoopKernel& kernel) : kernel_(kernel), varies_(kernel.values.size()) {}

    std::string problem() {
        if (kernel_.inner_begin() >= kernel_.extents.size()) return "no inner loop";
        if (kernel_.flat && kernel_.extents.size() != 1) return "flat, with several loops";
        for (std::size_t i = 0; i < kernel_.values.size(); ++i)
            if (std::string text = value_problem(i); !text.empty())
                return fmt::format("value {}: {}", i, text);
        for (const LoopStore& store : kernel_.stores)
            if (std::string text = store_problem(store); !text.empty()) return "store: " + text;
        return "";
    }

private:
    std::string access_problem(const LoopAccess& access, std::size_t buffers,
                               std::size_t values) const {
        if (access.buffer >= buffers) return "no such buffer";
        if (access.strides.size() != kernel_.extents.size()) return "a stride for each loop";
        for (const LoopAccess::Term& term : access.terms)
            if (term.index >= values || varies_[term.index]) return "an index varies in the row";
        return "";
    }

    bool moves_in_row(const LoopAccess& access) const {
        return std::any_of(access.strides.begin() + std::ptrdiff_t(kernel_.inner_begin()),
                           access.strides.end(), [](std::int64_t stride) { return stride != 0; });
    }

    std::string value_problem(std::size_t i) {
        const LoopValue& value = kernel_.values[i];
        if (!is_loop_type(value.dtype)) return "programs do not run this type";
        for (const ValueId operand : value.operands)
            if (operand >= i) return "an operand comes later";
        switch (value.kind) {
            case LoopValueKind::load:
                varies_[i] = moves_in_row(value.access);
                return access_problem(value.access, kernel_.reads, i);
            case LoopValueKind::counter:
                varies_[i] = moves_in_row(value.access);
                return kernel_.flat ? "a counter needs known loops"
                                    : access_problem(value.access, 1, i);
            case LoopValueKind::constant:
                return "";
            case LoopValueKind::compute:
                varies_[i] = std::ranges::any_of(
                    value.operands, [&](ValueId operand) { return bool(varies_[operand]); });
                return value.operands.empty() ? "no operands" : "";
            case LoopValueKind::reduce:
                return value.operands.size() == 1 && !kernel_.flat ? ""
                                                                   : "one operand, known loops";
        }
        return "";
    }

    std::string store_problem(const LoopStore& store) const {
        if (store.value >= kernel_.values.size()) return "no such value";
        if (kernel_.flat && store.kind != LoopStoreKind::element) return "flat ones map elements";
        if (store.kind == LoopStoreKind::row && varies_[store.value])
            return "its value varies within the row";
        return access_problem(store.to, kernel_.writes, kernel_.values.size());
    }

    const LoopKernel& kernel_;
    std::vector<bool> varies_;
};

/// Every access of a kernel that has strides.
template <class Kernel, class Body>
void for_each_access(Kernel& kernel, Body&& body) {
    for (auto& value : kernel.values)
        if (value.kind == LoopValueKind::load || value.kind == LoopValueKind::counter)
            body(value.access);
    for (auto& store : kernel.stores)
        body(store.to);
}

/// Takes the loop out; what it did is done by its neighbour within.
void erase_loop(LoopKernel& kernel, std::size_t loop) {
    kernel.extents.erase(kernel.extents.begin() + std::ptrdiff_t(loop));
    for_each_access(kernel, [&](LoopAccess& access) {
        access.strides.erase(access.strides.begin() + std::ptrdiff_t(loop));
    });
    if (loop < kernel.groups)
        --kernel.groups;
    else if (loop < kernel.inner_begin())
        --kernel.rows;
}

bool can_join(const LoopKernel& kernel, std::size_t loop) {
    bool fits = true;
    for_each_access(kernel, [&](const LoopAccess& access) {
        fits = fits && access.strides[loop] == access.strides[loop + 1] * kernel.extents[loop + 1];
    });
    return fits;
}

void coalesce_section(LoopKernel& kernel, std::size_t begin, std::size_t end) {
    for (std::size_t loop = end; loop-- > begin;) {
        const bool is_last_inner =
            loop >= kernel.inner_begin() && kernel.extents.size() == kernel.inner_begin() + 1;
        if (kernel.extents[loop] == 1 && !is_last_inner) {
            erase_loop(kernel, loop);
            --end;
        } else if (loop + 1 < end && can_join(kernel, loop)) {
            kernel.extents[loop + 1] *= kernel.extents[loop];
            erase_loop(kernel, loop);
            --end;
        }
    }
}

bool only_maps(const LoopKernel& kernel) {
    const auto is_plain = [](const LoopValue& value) {
        const bool counts = value.kind == LoopValueKind::counter;
        const bool is_simple = value.access.terms.empty() && value.kind != LoopValueKind::reduce;
        return is_simple && !counts &&
               (value.access.strides.empty() || value.access.strides[0] >= 0);
    };
    const auto is_dense = [](const LoopStore& store) {
        return store.kind == LoopStoreKind::element && store.to.terms.empty() &&
               store.to.strides[0] == 1 && store.to.offset == 0;
    };
    return kernel.extents.size() == 1 && std::ranges::all_of(kernel.values, is_plain) &&
           std::ranges::all_of(kernel.stores, is_dense);
}

}    // namespace

void coalesce(LoopKernel& kernel) {
    coalesce_section(kernel, kernel.inner_begin(), kernel.extents.size());
    coalesce_section(kernel, kernel.groups, kernel.inner_begin());
    coalesce_section(kernel, 0, kernel.groups);
    kernel.flat = only_maps(kernel);
}

bool is_loop_type(DType dtype) {
    return dtype != DType::f64;
}

std::string print(const LoopKernel& kernel) {
    std::string text =
        kernel.flat ? std::string("flat\n")
                    : fmt::format("loops {} groups {} rows {}\n", fmt::join(kernel.extents, "x"),
                                  kernel.groups, kernel.rows);
    for (std::size_t i = 0; i < kernel.values.size(); ++i)
        text += fmt::format("v{} {} {}\n", i, to_string(kernel.values[i].dtype),
                            text_of(kernel.values[i]));
    for (const LoopStore& store : kernel.stores)
        text += fmt::format("store{}.{} v{} w{}\n", int(store.kind), int(store.reduction),
                            store.value, text_of(store.to));
    return text + fmt::format("reads {} writes {}\n", kernel.reads, kernel.writes);
}

std::string find_problem(const LoopKernel& kernel) {
    return Checker(kernel).problem();
}

}    // namespace slipway

// A large value is packed in equal parts, so that workers can share it: a replicated stage packs
// the weights of one layer, and whoever has none waits for it. A part is some whole blocks of one
// dimension. All parts are the same primitive at other places, so a packing costs no more to make
// than before, and what it writes is the same. Dimensions with padding are not cut: pointing the
// library's memory elsewhere would clear the padding again for each part.
#include "executor/codegen/onednn/packing.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace slipway::onednn {

namespace {

// As many as a few workers share about equally; below these bytes it takes some microseconds.
constexpr std::int64_t parts_max = 16;
constexpr std::int64_t cut_bytes_min = 1 << 15;

LibraryLayout layout_of(const Desc& desc) {
    LibraryLayout layout{std::vector<std::byte>(sizeof(desc.data)), std::int64_t(desc.get_size())};
    std::memcpy(layout.description.data(), &desc.data, sizeof(desc.data));
    return layout;
}

/// Elements of a dimension that lie in one block.
std::int64_t block_of(const Desc& desc, int dimension) {
    const dnnl_blocking_desc_t& blocks = desc.data.format_desc.blocking;
    std::int64_t count = 1;
    for (int i = 0; i < blocks.inner_nblks; ++i)
        if (blocks.inner_idxs[i] == dimension) count *= blocks.inner_blks[i];
    return count;
}

bool may_cut(const Desc& desc) {
    const dnnl_memory_desc_t& data = desc.data;
    return data.format_kind == dnnl_blocked && data.extra.flags == dnnl_memory_extra_flag_none &&
           std::equal(data.dims, data.dims + data.ndims, data.padded_dims);
}

/// `parts` equal parts of one dimension.
struct Cut {
    int dimension = 0;
    std::int64_t parts = 1;

    Desc part_of(const Desc& whole) const {
        Desc part = whole;
        part.data.dims[dimension] /= parts;
        part.data.padded_dims[dimension] /= parts;
        return part;
    }
    /// From one part to the next.
    std::int64_t byte_step(const Desc& whole) const {
        const std::int64_t blocks = whole.data.dims[dimension] / parts / block_of(whole, dimension);
        return whole.data.format_desc.blocking.strides[dimension] * blocks *
               std::int64_t(dnnl::memory::data_type_size(whole.data_type()));
    }
};

/// Into as many parts as may be; of those the ones that lie furthest apart when packed.
Cut cut_of(const Desc& plain, const Desc& packed) {
    Cut best;
    if (std::int64_t(packed.get_size()) < cut_bytes_min || !may_cut(plain) || !may_cut(packed))
        return best;
    for (int i = 0; i < packed.data.ndims; ++i) {
        const std::int64_t blocks = packed.data.dims[i] / block_of(packed, i);
        Cut cut{i, std::min(blocks, parts_max)};
        while (cut.parts > 1 && blocks % cut.parts != 0)
            --cut.parts;
        const bool is_better =
            cut.parts > best.parts || (cut.parts == best.parts && cut.parts > 1 &&
                                       cut.byte_step(packed) > best.byte_step(packed));
        if (is_better) best = cut;
    }
    return best;
}

}    // namespace

Packing make_packing(const dnnl::engine& engine, const Operand& operand, bool is_read,
                     int workers) {
    const Cut cut = cut_of(operand.plain, operand.wanted);
    const Desc plain_part = cut.part_of(operand.plain), packed_part = cut.part_of(operand.wanted);
    const Operand plain{0, operand.offset, plain_part, plain_part};
    const Operand packed{0, 0, packed_part, packed_part};
    Operand from = is_read ? plain : packed;
    Operand to = is_read ? packed : plain;
    from.argument = DNNL_ARG_FROM;
    to.argument = DNNL_ARG_TO;
    const dnnl::reorder::primitive_desc plan(engine, from.plain, engine, to.plain,
                                             plan_owned_scratchpad());
    const LibraryKernel part = assemble({.engine = engine,
                                         .primitive = dnnl::reorder(plan),
                                         .reads = {from},
                                         .result = to,
                                         .scratchpad = plan.scratchpad_desc()},
                                        workers, plan.impl_info_str());
    Packing packing{.layout = layout_of(operand.wanted),
                    .kernel = part.kernel,
                    .scratch_bytes = part.scratch_bytes,
                    .plain = layout_of(operand.plain),
                    .plain_offset = operand.offset};
    if (cut.parts == 1) return packing;
    const std::int64_t from_step = cut.byte_step(is_read ? operand.plain : operand.wanted);
    const std::int64_t to_step = cut.byte_step(is_read ? operand.wanted : operand.plain);
    packing.elements = cut.parts;
    packing.scratch_bytes = part.scratch_bytes * workers;
    packing.kernel = [=, kernel = part.kernel,
                      scratch_bytes = part.scratch_bytes](const KernelCall& call) {
        for (std::int64_t i = call.begin; i < call.end; ++i) {
            const std::array reads{call.reads[0] + i * from_step};
            std::array writes{call.writes[0] + i * to_step, static_cast<std::byte*>(nullptr)};
            if (scratch_bytes > 0) writes[1] = call.writes[1] + call.worker * scratch_bytes;
            kernel({.reads = reads, .writes = writes, .worker = call.worker});
        }
    };
    return packing;
}

}    // namespace slipway::onednn

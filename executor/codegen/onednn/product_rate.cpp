#include "executor/codegen/onednn/product_rate.h"

#include <algorithm>
#include <barrier>
#include <thread>
#include <vector>

#include "api/base/clock.h"
#include "executor/codegen/onednn/openmp.h"
#include "executor/codegen/onednn/primitive.h"
#include "executor/tensor/array.h"

namespace slipway {

namespace {

constexpr std::int64_t extent = 1024;
constexpr int rounds = 20;
constexpr double flops = 2.0 * extent * extent * extent;

using Type = dnnl::memory::data_type;
using onednn::Desc;

Desc square(Type type) {
    return {{extent, extent}, type, dnnl::memory::format_tag::ab};
}

/// The library's own order of the weights: what a program packs once and multiplies often.
Desc packed(Type type) {
    return {{extent, extent}, type, dnnl::memory::format_tag::any};
}

/// One thread's product of two matrices of zeros: what is multiplied does not change how long it
/// takes.
class Product {
public:
    Product(const dnnl::engine& engine, Type type)
        : stream_(engine),
          plan_(dnnl::matmul::desc(square(type), packed(type), square(type)), engine),
          multiply_(plan_),
          left_(plan_.src_desc(), engine),
          right_(plan_.weights_desc(), engine),
          result_(plan_.dst_desc(), engine) {
        for (const dnnl::memory& memory : {left_, right_, result_}) {
            auto* const bytes = static_cast<std::byte*>(memory.get_data_handle());
            std::fill_n(bytes, memory.get_desc().get_size(), std::byte{0});
        }
    }

    double seconds() {
        const Tick begin = system_clock().tick();
        multiply_.execute(
            stream_, {{DNNL_ARG_SRC, left_}, {DNNL_ARG_WEIGHTS, right_}, {DNNL_ARG_DST, result_}});
        stream_.wait();
        return std::chrono::duration<double>(system_clock().tick() - begin).count();
    }

private:
    dnnl::stream stream_;
    dnnl::matmul::primitive_desc plan_;
    dnnl::matmul multiply_;
    dnnl::memory left_, right_, result_;
};

/// Planned for one thread each.
std::vector<Product> make_products(Type type, int count) {
    const int before = omp_get_max_threads();
    omp_set_num_threads(1);
    const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    std::vector<Product> products;
    for (int i = 0; i < count; ++i)
        products.emplace_back(engine, type);
    omp_set_num_threads(before);
    return products;
}

}    // namespace

double measure_product_rate(DType dtype, int threads) {
    std::vector<Product> products;
    try {
        products = make_products(dtype == DType::bf16 ? Type::bf16 : Type::f32, threads);
    } catch (const dnnl::error&) {
        return 0;    // the library's border: not offered on this machine
    }
    std::barrier together(threads);
    std::vector<double> best_s(products.size(), 0);
    {
        std::vector<std::jthread> team;
        for (std::size_t i = 0; i < products.size(); ++i) {
            team.emplace_back([&, i] {
                omp_set_num_threads(1);
                for (int round = 0; round < rounds; ++round) {
                    together.arrive_and_wait();
                    const double elapsed_s = products[i].seconds();
                    if (round == 0 || elapsed_s < best_s[i]) best_s[i] = elapsed_s;
                }
            });
        }
    }
    return flops * threads / *std::ranges::max_element(best_s);
}

}    // namespace slipway

"""Values and gradients of single operators by torch in float64, as operators.json.

usage: make_operators.py > operators.json

A case is an operator of ATen with its arguments by the names of its schema. Its result is compared, and the gradient of
the sum of all results, each element times cos of its number. Needs torch 2.9 or newer.
"""

import json
import math

import torch

aten = torch.ops.aten
generator = torch.Generator().manual_seed(7)


def draw(*dims, low=-2.0, high=2.0):
    """Numbers of three decimals: short in the file, and no kink of a function is near one."""
    return (torch.rand(dims, generator=generator, dtype=torch.float64) * (high - low) + low).mul(1000).round().div(1000)


def whole(*dims, below):
    return torch.randint(0, below, dims, generator=generator)


def flags(*dims):
    return torch.rand(dims, generator=generator) < 0.5


def cases():
    x, y, z = draw(2, 3, 4), draw(2, 3, 4), draw(3, 1)
    image, weight = draw(2, 4, 7, 6), draw(6, 4, 3, 3)
    for name in ("relu", "sigmoid", "tanh", "silu", "hardsigmoid", "hardswish", "mish", "log_sigmoid", "abs", "neg", "exp", "expm1", "cos",
                 "sin", "erf", "square", "relu6", "selu", "ceil", "floor", "round", "trunc", "sign"):
        yield name + ".default", [x]
    for name in ("log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal"):
        yield name + ".default", [draw(3, 4, low=0.2)]
    yield "gelu.default", [x]
    yield "gelu.default", [x], {"approximate": "tanh"}
    yield "elu.default", [x, 1.5]
    yield "celu.default", [x, 1.5]
    yield "leaky_relu.default", [x, 0.2]
    yield "hardtanh.default", [x, -0.5, 1.5]
    yield "softplus.default", [x, 2.0, 3.0]
    yield "prelu.default", [x, draw(3)]
    yield "prelu.default", [x, draw(1)]
    yield "glu.default", [x, 2]
    for dim in (0, 1, -1):
        yield "softmax.int", [x, dim]
        yield "log_softmax.int", [x, dim]
    for name in ("add.Tensor", "sub.Tensor"):
        yield name, [x, z]
        yield name, [x, y], {"alpha": 0.5}
        yield name, [x, 1.25]
    yield "rsub.Scalar", [x, 1.0]
    yield "mul.Tensor", [x, z]
    yield "mul.Tensor", [whole(3, 4, below=5), 2.5]
    yield "div.Tensor", [x, draw(3, 1, low=0.5)]
    yield "div.Tensor", [whole(3, 4, below=9), 4]
    yield "div.Tensor_mode", [whole(3, 4, below=19), 4], {"rounding_mode": "floor"}
    yield "div.Tensor_mode", [x, 0.75], {"rounding_mode": "trunc"}
    yield "floor_divide.default", [whole(3, 4, below=19), 4]
    yield "remainder.Scalar", [whole(3, 4, below=19) - 9, 4]
    yield "maximum.default", [x, y]
    yield "minimum.default", [x, y]
    for exponent in (0, 1, 2, 3, 4, 0.5, -0.5, -1, 1.7):
        yield "pow.Tensor_Scalar", [draw(3, 4, low=0.2), exponent]
    yield "pow.Tensor_Tensor", [draw(3, 4, low=0.2), draw(3, 4)]
    yield "pow.Scalar", [2.0, x]
    yield "clamp.default", [x, -0.7, 0.9]
    yield "clamp_min.default", [x, 0.1]
    yield "addcmul.default", [x, y, z], {"value": 0.5}
    yield "addcdiv.default", [x, y, draw(3, 1, low=0.5)], {"value": 0.5}
    yield "lerp.Scalar", [x, y, 0.3]
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        yield name + ".Scalar", [whole(3, 4, below=4), 2]
        yield name + ".Tensor", [x, y]
    yield "logical_and.default", [flags(3, 4), flags(4)]
    yield "logical_not.default", [flags(3, 4)]
    yield "bitwise_or.Tensor", [flags(3, 4), flags(4)]
    yield "where.self", [flags(3, 4), x, y]
    yield "where.ScalarOther", [flags(3, 4), x, -1.5]
    yield "masked_fill.Scalar", [x, flags(3, 4), -5.0]
    for options in ({}, {"stride": [2, 1]}, {"padding": [1, 2]}, {"dilation": [2, 2], "padding": [2, 2]}):
        yield "conv2d.default", [image, weight, draw(6)], options
    yield "conv2d.default", [image, draw(6, 2, 3, 3), draw(6)], {"groups": 2, "padding": [1, 1]}
    yield "conv2d.default", [image, draw(4, 1, 3, 3)], {"groups": 4}
    yield "conv2d.padding", [image, draw(6, 4, 4, 3), draw(6)], {"padding": "same"}
    yield "conv1d.default", [draw(2, 4, 9), draw(6, 4, 3), draw(6)], {"stride": [2], "padding": [1]}
    yield "conv_transpose2d.input", [image, draw(4, 5, 3, 2), draw(5)], {"stride": [2, 3], "padding": [1, 0], "output_padding": [1, 1]}
    yield "max_pool2d.default", [image, [3, 2], [2, 2], [1, 0]]
    yield "max_pool2d.default", [image, [3, 3], [2, 2], [0, 0], [1, 1], True]
    yield "max_pool1d.default", [draw(2, 3, 9), [2]]
    yield "avg_pool2d.default", [image, [2, 2]]
    yield "avg_pool2d.default", [image, [3, 3], [2, 2], [1, 1]]
    yield "avg_pool2d.default", [image, [3, 3], [2, 2], [1, 1], False, False]
    yield "avg_pool2d.default", [image, [2, 2], [2, 2], [0, 0], True, True]
    yield "avg_pool2d.default", [image, [3, 3], [2, 2], [1, 1], True, True]
    yield "avg_pool2d.default", [image, [3, 3], [2, 2], [1, 1], True, False]
    yield "avg_pool1d.default", [draw(2, 3, 9), [3], [2]]
    for size in ([1, 1], [7, 6], [3, 4], [10, 9]):
        yield "adaptive_avg_pool2d.default", [image, size]
    yield "adaptive_max_pool2d.default", [image, [7, 3]], {}, 1
    yield "layer_norm.default", [x, [4], draw(4), draw(4), 1e-4]
    yield "layer_norm.default", [x, [3, 4], draw(3, 4), draw(3, 4)]
    yield "layer_norm.default", [x, [4]]
    yield "rms_norm.default", [x, [4], draw(4), 1e-4]
    yield "group_norm.default", [image, 2, draw(4), draw(4)]
    yield "instance_norm.default", [image, draw(4), draw(4), None, None, True, 0.1, 1e-5, True]
    yield "linear.default", [x, draw(5, 4), draw(5)]
    yield "linear.default", [x, draw(5, 4)]
    for a, b in (((3, 4), (4, 2)), ((2, 3, 4), (4, 2)), ((2, 3, 4), (2, 4, 5)), ((2, 1, 3, 4), (5, 4, 2)), ((4,), (4, 2)), ((3, 4), (4,)),
                 ((4,), (4,)), ((2, 3, 4), (4,))):
        yield "matmul.default", [draw(*a), draw(*b)]
    yield "bmm.default", [draw(2, 3, 4), draw(2, 4, 5)]
    yield "mm.default", [draw(3, 4), draw(4, 5)]
    yield "addmm.default", [draw(5), draw(3, 4), draw(4, 5)], {"alpha": 0.5, "beta": 2.0}
    yield "baddbmm.default", [draw(2, 3, 5), draw(2, 3, 4), draw(2, 4, 5)]
    for equation, a, b in (("bij,bjk->bik", (2, 3, 4), (2, 4, 5)), ("bij,kj->bki", (2, 3, 4), (5, 4)), ("bhid,bhjd->bhij", (2, 2, 3, 4), (2, 2, 5, 4)),
                           ("ij,j->i", (3, 4), (4,)), ("ab,cd->acbd", (2, 3), (4, 2))):
        yield "einsum.default", [equation, [draw(*a), draw(*b)]]
    for name in ("sum.dim_IntList", "mean.dim"):
        yield name, [x, [1]]
        yield name, [x, [0, -1], True]
    yield "sum.default", [x]
    yield "mean.default", [x]
    yield "amax.default", [x, [1, 2]]
    yield "amin.default", [x, [-1], True]
    yield "max.dim", [x, 1]
    yield "max.dim", [x, 0, True]
    yield "min.dim", [x, -1]
    yield "max.default", [x]
    yield "argmax.default", [x, 1]
    yield "argmin.default", [x, 0, True]
    yield "var.correction", [x, [1]], {"correction": 0}
    yield "var.correction", [x, [0, 2]], {"keepdim": True}
    yield "std.correction", [x, [1]]
    yield "var_mean.correction", [x, [2]], {"keepdim": True}
    for order in (1, 2, math.inf):
        yield "linalg_vector_norm.default", [x, order, [1]]
    yield "logsumexp.default", [x, [1]]
    yield "cumsum.default", [x, 1]
    yield "cumsum.default", [whole(3, 4, below=5), 0]
    yield "any.dim", [flags(3, 4), 1]
    yield "all.dim", [flags(3, 4), 0]
    yield "reshape.default", [x, [4, -1]]
    yield "view.default", [x, [-1]]
    yield "flatten.using_ints", [x, 1]
    yield "unflatten.int", [x, 2, [2, -1]]
    yield "unsqueeze.default", [x, -2]
    yield "squeeze.dim", [draw(2, 1, 3), 1]
    yield "squeeze.default", [draw(2, 1, 3, 1)]
    yield "permute.default", [x, [2, 0, -2]]
    yield "transpose.int", [x, 0, -1]
    yield "t.default", [draw(2, 3)]
    yield "expand.default", [draw(3, 1), [2, -1, 4]]
    yield "slice.Tensor", [x, 2, 1, 9223372036854775807]
    yield "slice.Tensor", [x, 1, 0, -1, 2]
    yield "select.int", [x, 1, -1]
    yield "narrow.default", [x, 2, 1, 2]
    yield "split.Tensor", [draw(5, 2), 2]
    yield "split_with_sizes.default", [draw(5, 2), [1, 4]]
    yield "chunk.default", [draw(5, 2), 3]
    yield "unbind.int", [x, 1]
    yield "cat.default", [[x, y], 1]
    yield "stack.default", [[x, y], -1]
    yield "flip.default", [x, [0, 2]]
    yield "roll.default", [x, [1, -2], [1, 2]]
    yield "roll.default", [x, [5]]
    yield "repeat.default", [draw(2, 3), [2, 1, 3]]
    yield "tile.default", [draw(2, 3), [1, 3]]
    yield "repeat_interleave.self_int", [draw(2, 3), 2, 1]
    yield "pad.default", [image, [1, 2, 0, 1]], {"value": 0.5}
    yield "pad.default", [image, [-1, 2]]
    for mode in ("reflect", "replicate", "circular"):
        yield "pad.default", [image, [1, 2, 2, 1], mode]
    yield "constant_pad_nd.default", [x, [1, 0], 2.0]
    yield "meshgrid.indexing", [[draw(2), draw(3)]], {"indexing": "ij"}
    yield "meshgrid.indexing", [[draw(2), draw(3)]], {"indexing": "xy"}
    yield "pixel_shuffle.default", [draw(2, 8, 2, 3), 2]
    yield "pixel_unshuffle.default", [draw(2, 2, 4, 6), 2]
    yield "channel_shuffle.default", [image, 2]
    yield "upsample_nearest2d.vec", [image, [14, 12], None]
    yield "upsample_nearest2d.vec", [image, [10, 4], None]
    yield "upsample_bilinear2d.vec", [image, [14, 12], False, None]
    yield "upsample_bilinear2d.vec", [image, [5, 9], True, None]
    yield "upsample_bilinear2d.vec", [image, None, False, [2.0, 1.5]]
    yield "upsample_bicubic2d.vec", [image, [10, 9], False, None]
    yield "upsample_bicubic2d.vec", [image, [10, 9], True, None]
    for size in ([14, 9], [3, 4], [7, 6]):
        yield "_upsample_bicubic2d_aa.vec", [image, size, False, None]
        yield "_upsample_bilinear2d_aa.vec", [image, size, False, None]
    yield "batch_norm.default", [draw(1, 3, 8), draw(3), draw(3), None, None, True, 0.0, 1e-5, True]
    yield "embedding.default", [draw(7, 3), whole(2, 4, below=7)]
    yield "index_select.default", [x, 1, whole(5, below=3)]
    yield "index.Tensor", [x, [None, whole(2, 2, below=3)]]
    yield "index.Tensor", [x, [whole(3, 1, below=2), whole(4, below=3)]]
    yield "index.Tensor", [x, [torch.tensor([-1, 0])]]
    yield "gather.default", [x, 1, whole(2, 2, 4, below=3)]
    yield "gather.default", [x, 2, whole(1, 3, 5, below=4)]
    yield "unfold.default", [x, 1, 2, 1]
    yield "unfold.default", [draw(2, 7), -1, 3, 2]
    yield "im2col.default", [image, [3, 2], [1, 1], [1, 0], [2, 2]]
    for cell, gates in (("lstm", 4), ("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1)):
        for layers, sides, biases, first in ((1, 1, True, True), (2, 2, True, False), (1, 1, False, True)):
            params, width = [], 3
            for layer in range(layers):
                for _ in range(sides):
                    params += [draw(gates * 4, width if layer == 0 else 4 * sides), draw(gates * 4, 4)]
                    params += [draw(gates * 4), draw(gates * 4)] if biases else []
            begin = [draw(layers * sides, 2, 4) for _ in range(2 if cell == "lstm" else 1)]
            sequence = draw(2, 3, width) if first else draw(3, 2, width)
            yield f"{cell}.input", [sequence, begin if cell == "lstm" else begin[0], params, biases, layers, 0.0, False, sides == 2, first]
    yield "scaled_dot_product_attention.default", [draw(2, 2, 3, 4), draw(2, 2, 5, 4), draw(2, 2, 5, 6)]
    yield "scaled_dot_product_attention.default", [draw(2, 2, 5, 4), draw(2, 2, 5, 4), draw(2, 2, 5, 4)], {"is_causal": True}
    yield "scaled_dot_product_attention.default", [draw(2, 2, 3, 4), draw(2, 2, 5, 4), draw(2, 2, 5, 4), draw(2, 1, 3, 5)], {"scale": 0.3}
    mask = flags(3, 5)
    mask[:, 0] = True
    yield "scaled_dot_product_attention.default", [draw(2, 3, 4), draw(2, 5, 4), draw(2, 5, 4), mask]
    yield "scaled_dot_product_attention.default", [draw(2, 4, 3, 4), draw(2, 2, 3, 4), draw(2, 2, 3, 4)], {"enable_gqa": True}
    yield "tril.default", [draw(4, 4), 1]
    yield "triu.default", [draw(3, 4), -1]
    yield "one_hot.default", [whole(2, 3, below=4), 5]
    yield "full_like.default", [x, 2.5]
    yield "ones_like.default", [x]
    yield "arange.start_step", [1, 8, 2]
    yield "linspace.default", [0.0, 1.0, 5]
    yield "eye.m", [3, 4]


def encode(value, tensors):
    if isinstance(value, torch.Tensor):
        tensors.append(value)
        return {"value": f"t{len(tensors) - 1}"}
    if isinstance(value, float):
        return {"floating": str(value)}
    if isinstance(value, str):
        return {"text": value}
    if isinstance(value, list):
        return [encode(one, tensors) for one in value]
    return value


def array(tensor):
    kind = "pred" if tensor.dtype == torch.bool else ("f32" if tensor.is_floating_point() else "i32")
    numbers = tensor.detach().to(torch.float64).flatten().tolist()
    return {"dtype": kind, "dims": list(tensor.shape), "values": [float(f"{one:.7g}") for one in numbers]}


def run(op, positional, named):
    inputs = [one for one in torch.utils._pytree.tree_leaves((positional, named)) if isinstance(one, torch.Tensor)]
    for one in inputs:
        if one.is_floating_point():
            one.requires_grad_(True)
            one.grad = None
    found = op(*positional, **named)
    results = [one for one in (found if isinstance(found, (list, tuple)) else [found])]
    loss = sum((one * torch.cos(torch.arange(one.numel(), dtype=torch.float64)).reshape(one.shape)).sum()
               for one in results if one.is_floating_point() and one.requires_grad)
    if isinstance(loss, torch.Tensor):
        loss.backward()
    return inputs, results


def main():
    print("[")
    for number, (name, positional, *more) in enumerate(cases()):
        named = more[0] if more else {}
        kept = more[1] if len(more) > 1 else None
        base, overload = name.split(".")
        op = getattr(getattr(aten, base), overload)
        if base in ("arange", "linspace", "eye"):
            named = {**named, "dtype": None}
        named = {key: value for key, value in named.items() if value is not None}
        inputs, results = run(op, positional, named)
        results = results[:kept]
        names = [one.name for one in op._schema.arguments]
        given = dict(zip(names, positional)) | named
        tensors = []
        arguments = [[key, encode(value, tensors)] for key, value in given.items() if value is not None]
        case = {"op": "aten." + name, "arguments": arguments, "tensors": [array(one) for one in tensors],
                "results": [array(one) for one in results],
                "gradients": [array(one.grad)["values"] if one.grad is not None else None for one in tensors]}
        print(("," if number else "") + json.dumps(case, separators=(",", ":")))
    print("]")


if __name__ == "__main__":
    main()

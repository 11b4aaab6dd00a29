#!/usr/bin/env python3
"""Writes ops.txt: values and gradients of every op, computed by PyTorch in float64.

    python3 tests/data/make_golden_ops.py > tests/data/ops.txt      (PyTorch 1.13)

Inputs are multiples of 1/64, so that float32 holds them exactly and one file serves both
precisions. Numbers come from a small generator written out below: no library's stream is needed to
make the same file again. One tensor a line, as tests/support/golden.h reads them. Of a case "op" or
"op/variant", input number n is <case>.x<n> (a variable), <case>.i<n> (integers) or <case>.b<n>
(booleans); <case>.out is the result, <case>.seed the incoming gradient, <case>.d.x<n> the gradient.
"""

import math
import sys

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
LETTERS = {torch.float64: "x", torch.int64: "i", torch.bool: "b"}
INF = math.inf


class Numbers:
    """A linear congruential generator (Knuth's MMIX constants)."""

    def __init__(self, seed):
        self.state = seed

    def draw(self, shape, lo=-2.0, hi=2.0):
        values = []
        for _ in range(math.prod(shape)):
            self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
            steps = int((hi - lo) * 64)
            values.append(lo + (self.state >> 33) % steps / 64)
        return torch.tensor(values).reshape(shape)


numbers = Numbers(2024)
cases = []


def case(name, fn, *inputs):
    """Records fn at inputs; a list as input is a shape to draw numbers for."""
    drawn = [numbers.draw(x) if isinstance(x, list) else x for x in inputs]
    cases.append((name, fn, drawn))


def positive(*shape):
    return numbers.draw(shape, 0.5, 2.5)


def integers(*values):
    return torch.tensor(values, dtype=torch.int64)


def floats(*values):
    return torch.tensor(values)


def booleans(*values):
    return torch.tensor(values, dtype=torch.bool)


CHECKER = booleans([True, False, True], [False, False, True])
TIES = floats([3.0, 1.0, 3.0], [2.0, 2.0, 2.0])

# --- arithmetic
case("add/same", torch.add, [2, 3], [2, 3])
case("add/right", torch.add, [2, 3], [3])
case("add/both", torch.add, [2, 1], [1, 3])
case("add_number", lambda x: x + 1.5, [2, 3])
case("sub/left", torch.sub, [3], [2, 3])
case("sub_from_number", lambda x: 1.5 - x, [2, 3])
case("mul/both", torch.mul, [2, 1, 3], [4, 1])
case("mul/scalar", torch.mul, [2, 3], [])
case("mul_number", lambda x: x * -2.5, [2, 3])
case("div/right", torch.div, [2, 3], positive(3))
case("div/left", torch.div, [1], positive(2, 3))
case("number_div", lambda x: 2.0 / x, positive(2, 3))
case("neg", torch.neg, [2, 3])
case("pow_3", lambda x: x**3, [2, 3])
case("pow_minus_half", lambda x: x**-0.5, positive(2, 3))
case("pow_2/at_zero", lambda x: x**2, floats(0.0, -1.5, 2.0))
case("pow", torch.pow, positive(2, 3), [3])
case("maximum", torch.maximum, [2, 3], [3])
case("maximum/ties", torch.maximum, floats(1.0, 2.0, 3.0), floats(1.0, 3.0, 2.0))
case("minimum", torch.minimum, [2, 3], [3])
case("minimum/ties", torch.minimum, floats(1.0, 2.0, 3.0), floats(1.0, 3.0, 2.0))

# --- unary
case("exp", torch.exp, [2, 5])
case("exp/minus_infinity", torch.exp, floats(-INF, 0.0, 3.0))
case("log", torch.log, positive(2, 5))
case("sqrt", torch.sqrt, positive(2, 5))
case("tanh", torch.tanh, [2, 5])
case("tanh/saturated", torch.tanh, floats(-40.0, 0.0, 40.0))
case("sigmoid", torch.sigmoid, [2, 5])
case("sigmoid/saturated", torch.sigmoid, floats(-800.0, 0.0, 40.0))
case("relu", torch.relu, [2, 5])
case("relu/at_zero", torch.relu, floats(-1.0, 0.0, 1.0))
case("gelu", F.gelu, [2, 5])
case("gelu/tails", F.gelu, floats(-30.0, -5.0, 0.0, 5.0, 30.0))
case("abs", torch.abs, [2, 5])
case("abs/at_zero", torch.abs, floats(-1.0, 0.0, 1.0))

# --- select and compare
case("where", torch.where, CHECKER, [2, 3], [3])
case("where/column", torch.where, booleans([True], [False]), [3], [2, 1])
case("masked_fill", lambda x, m: x.masked_fill(m, -7.0), [2, 3], CHECKER)
case("masked_softmax", lambda x, m: x.masked_fill(m, -INF).softmax(-1), [2, 3], CHECKER)
case("eq", torch.eq, floats(1.0, 2.0, 3.0), floats(1.0, 3.0, 2.0))
case("ne", torch.ne, floats(1.0, 2.0, 3.0), floats(1.0, 3.0, 2.0))
case("lt", torch.lt, [2, 3], [3])
case("le", torch.le, TIES, floats(3.0, 1.0, 2.0))
case("gt", torch.gt, [2, 3], [3])
case("ge", torch.ge, TIES, floats(3.0, 1.0, 2.0))
case("logical_and", torch.logical_and, CHECKER, booleans(True, True, False))
case("logical_or", torch.logical_or, CHECKER, booleans(True, True, False))
case("logical_not", torch.logical_not, CHECKER)

# --- reduce and derived
for reduce in ("sum", "mean"):
    case(reduce, getattr(torch, reduce), [2, 3])
    case(reduce + "_first", lambda x, f=reduce: getattr(x, f)(0), [2, 3])
    case(reduce + "_outer_keepdim", lambda x, f=reduce: getattr(x, f)((0, 2), True), [2, 3, 4])
case("var_last", lambda x: x.var(-1), [2, 5])
case("var_biased_first", lambda x: x.var(0, unbiased=False, keepdim=True), [4, 3])
case("max", lambda x: x.amax(), [2, 3])
case("max_last", lambda x: x.amax(-1), [2, 3])
case("max_last/ties", lambda x: x.amax(-1), TIES)
case("max_outer_keepdim", lambda x: x.amax((0, 2), True), [2, 3, 4])
case("min_first", lambda x: x.amin(0), [2, 3])
case("min_first/ties", lambda x: x.amin(0), floats([1.0, 2.0], [1.0, 3.0], [1.0, 2.0]))
case("argmax_last", lambda x: x.argmax(-1), [4, 5])
case("argmax_last/ties", lambda x: x.argmax(-1), TIES)
case("argmax", torch.argmax, [3, 4])
case("tril", torch.tril, [3, 4])
case("tril_minus_1", lambda x: torch.tril(x, -1), [2, 3, 3])

# --- softmax
for name, fn in (("softmax", torch.softmax), ("log_softmax", torch.log_softmax),
                 ("logsumexp", torch.logsumexp)):
    case(name + "_last", lambda x, f=fn: f(x, -1), [2, 5])
    case(name + "_last/huge", lambda x, f=fn: f(x, -1), floats([1e4, 1e4, 0.0], [-1e4, 0.0, 1.0]))
    case(name + "_middle", lambda x, f=fn: f(x, 1), [2, 3, 2])
case("softmax_last/minus_infinity", lambda x: x.softmax(-1),
     floats([-INF, 0.0, 1.0], [2.0, -INF, -INF]))
case("cross_entropy", F.cross_entropy, [4, 5], integers(1, 0, 4, 4))
case("cross_entropy/huge", F.cross_entropy, floats([1e3, 0.0], [0.0, -1e3]), integers(1, 1))

# --- matmul
case("matmul/plain", torch.matmul, [2, 3], [3, 4])
case("matmul/dot", torch.matmul, [3], [3])
case("matmul/row", torch.matmul, [3], [3, 2])
case("matmul/column", torch.matmul, [2, 3], [3])
case("matmul/batch", torch.matmul, [2, 2, 3], [2, 3, 2])
case("matmul/one_right", torch.matmul, [2, 2, 3], [3, 2])
case("matmul/one_left", torch.matmul, [2, 3], [2, 3, 2])
case("matmul/broadcast", torch.matmul, [2, 1, 2, 3], [2, 3, 1])
case("matmul/batch_of_columns", torch.matmul, [2, 2, 3], [3])
case("matmul/over_nothing", torch.matmul, [2, 0], [0, 3])
case("matmul_transposed", lambda a, b: a @ b.transpose(-2, -1), [2, 2, 3], [2, 4, 3])

# --- views
case("transpose", lambda x: x.transpose(0, -1), [2, 3, 2])
case("permute", lambda x: x.permute(2, 0, 1), [2, 3, 2])
case("reshape", lambda x: x.transpose(0, 1).reshape(2, 6), [3, 4])
case("unsqueeze", lambda x: x.unsqueeze(1), [2, 3])
case("squeeze_1", lambda x: x.squeeze(1), [2, 1, 3])
case("squeeze", torch.squeeze, [1, 2, 1, 3])
case("expand", lambda x: x.expand(2, -1, 3), [2, 1])
case("narrow", lambda x: x.narrow(1, 1, 2), [2, 4])
case("select", lambda x: x.select(-1, -2), [2, 4])

# --- join and index
case("cat_last", lambda *x: torch.cat(x, -1), [2, 3], [2, 1], [2, 2])
case("cat_first/empty_part", lambda *x: torch.cat(x, 0), [1, 3], [0, 3], [2, 3])
case("stack_1", lambda *x: torch.stack(x, 1), [2, 3], [2, 3])
case("embedding", lambda w, i: F.embedding(i, w), [4, 3], integers([3, 0], [3, 1]))
case("gather_last", lambda x, i: x.gather(1, i), [2, 4], integers([3, 0, 0], [1, 1, 2]))
case("gather_first/fewer", lambda x, i: x.gather(0, i), [3, 3], integers([2, 0], [2, 1]))
case("index_select_1", lambda x, i: x.index_select(1, i), [2, 3, 2], integers(2, 0, 2))

# --- layer_norm
case("layer_norm", lambda x: F.layer_norm(x, x.shape[-1:]), [2, 3, 4])
case("layer_norm_weight", lambda x, w: F.layer_norm(x, x.shape[-1:], w), [3, 4], [4])
case("layer_norm_both", lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b), [3, 5], [5], [5])
case("layer_norm_both/constant_row", lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b),
     floats([2.0, 2.0, 2.0], [1.0, 2.0, 4.0]), [3], [3])


def line(name, x):
    shape = "x".join(str(size) for size in x.shape) or "scalar"
    elements = [repr(v + 0.0) if x.dtype == torch.float64 else str(int(v))
                for v in x.flatten().tolist()]
    print(" ".join([name, shape] + elements))


def write(name, fn, inputs):
    keys = [LETTERS[x.dtype] + str(n) for n, x in enumerate(inputs)]
    for key, x in zip(keys, inputs):
        line(f"{name}.{key}", x)
        if x.dtype == torch.float64:
            x.requires_grad_(True)
    y = fn(*inputs)
    line(f"{name}.out", y.detach())
    if not y.requires_grad:
        return
    seed = numbers.draw(y.shape, 0.5, 1.5)
    line(f"{name}.seed", seed)
    variables = [(key, x) for key, x in zip(keys, inputs) if x.requires_grad]
    gradients = torch.autograd.grad(y, [x for _, x in variables], seed)
    for (key, _), gradient in zip(variables, gradients):
        line(f"{name}.d.{key}", gradient)


print("# Made by make_golden_ops.py with PyTorch", torch.__version__.split("+")[0])
for one in cases:
    write(*one)
print(len(cases), "cases", file=sys.stderr)

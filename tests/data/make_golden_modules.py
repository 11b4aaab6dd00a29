#!/usr/bin/env python3
"""Writes modules.txt: what PyTorch computes for the layers of nn/ and attention/.

    python3 tests/data/make_golden_modules.py > tests/data/modules.txt

One tensor a line: name, shape as 2x3, elements in row-major order. Everything is float64. Inputs and
parameters are multiples of 1/256, so that float32 holds them exactly and the same file serves both
precisions. "<case>.d.<name>" is the gradient of sum(seed * out) by <name>.

Made with PyTorch 1.13.0.
"""
import math

import torch
import torch.nn.functional as F

torch.manual_seed(20240229)
torch.set_default_dtype(torch.float64)


def numbers(*shape, scale=1.0):
    """Normal numbers, rounded to multiples of 1/256, that require a gradient."""
    x = torch.round(torch.randn(shape) * scale * 256) / 256
    return x.requires_grad_(True)


def write(name, x):
    x = x.detach()
    shape = "x".join(str(n) for n in x.shape) or "scalar"
    print(name, shape, " ".join(repr(v) for v in x.flatten().tolist()))


def case(name, fn, **inputs):
    """Writes the inputs, the output, and all gradients for a fixed seed."""
    out = fn(**inputs)
    seed = torch.round(torch.randn(out.shape) * 256) / 256
    gradients = torch.autograd.grad((out * seed).sum(), list(inputs.values()))
    for key, x in inputs.items():
        write(f"{name}.{key}", x)
    write(f"{name}.seed", seed)
    write(f"{name}.out", out)
    for key, g in zip(inputs, gradients):
        write(f"{name}.d.{key}", g)


def attend(q, k, v, causal=True, window=0):
    """softmax(q k^T / sqrt(d_k)) v, masked."""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    Tq, Tk = scores.shape[-2:]
    allowed = torch.ones(Tq, Tk, dtype=torch.bool)
    if causal:
        allowed = allowed.tril(Tk - Tq)
    if window:
        allowed = allowed & ~torch.ones(Tq, Tk, dtype=torch.bool).tril(Tk - Tq - window)
    return torch.softmax(scores.masked_fill(~allowed, -math.inf), -1) @ v


def head(x, query, key, value):
    return attend(x @ query.T, x @ key.T, x @ value.T)


def torch_multi_head(x, context, wq, wk, wv, wo, heads, causal, bq=None, bk=None, bv=None, bo=None):
    """PyTorch's own multi-head attention."""
    width = x.shape[-1]
    bias = None if bq is None else torch.cat([bq, bk, bv])
    mask = None
    if causal:
        mask = ~torch.ones(x.shape[1], context.shape[1], dtype=torch.bool).tril()
    out, _ = F.multi_head_attention_forward(
        x.transpose(0, 1), context.transpose(0, 1), context.transpose(0, 1), width, heads,
        torch.cat([wq, wk, wv]), bias, None, None, False, 0.0, wo, bo, attn_mask=mask)
    return out.transpose(0, 1)


def multi_head(heads, causal=True, group=1):
    """Grouped queries by repeating each kv head `group` times."""

    def repeat(w):
        width = w.shape[0] // (heads // group)
        return torch.cat([w[g * width:(g + 1) * width] for g in range(heads // group)
                          for _ in range(group)])

    def fn(x, wq, wk, wv, wo, context=None, bk=None, bv=None, **biases):
        if bk is not None:
            biases.update(bk=repeat(bk), bv=repeat(bv))
        return torch_multi_head(x, x if context is None else context, wq, repeat(wk), repeat(wv),
                                wo, heads, causal, **biases)

    return fn


def weights(width, kv_width=None, bias=True):
    kv = kv_width or width
    w = dict(wq=numbers(width, width, scale=0.4), wk=numbers(kv, width, scale=0.4),
             wv=numbers(kv, width, scale=0.4), wo=numbers(width, width, scale=0.4))
    if bias:
        w.update(bq=numbers(width, scale=0.4), bk=numbers(kv, scale=0.4),
                 bv=numbers(kv, scale=0.4), bo=numbers(width, scale=0.4))
    return w


def block(x, n1w, n1b, n2w, n2b, w1, b1, w2, b2, **attention_weights):
    width = (x.shape[-1],)
    h = x + multi_head(2)(F.layer_norm(x, width, n1w, n1b), **attention_weights)
    return h + F.linear(F.gelu(F.linear(F.layer_norm(h, width, n2w, n2b), w1, b1)), w2, b2)


def window_attention(q, k, v):
    return attend(q, k, v, window=3)



def language_model_loss(logits, target):
    return F.cross_entropy(logits.flatten(0, 1), target.flatten())


def adamw():
    """Parameters after each of six steps; the gradient is p^3 + 1 + step / 4."""
    for name, options in [("adamw", {}),
                          ("adamw_options", dict(lr=0.1, betas=(0.5, 0.75), eps=1e-3,
                                                 weight_decay=0.25))]:
        p = numbers(2, 3)
        write(f"{name}.start", p)
        optimizer = torch.optim.AdamW([p], **options)
        for step in range(6):
            p.grad = (p ** 3 + 1 + step / 4).detach()
            optimizer.step()
            write(f"{name}.step{step + 1}", p)


def main():
    print("# Made by make_golden_modules.py with PyTorch", torch.__version__)
    case("linear", F.linear, input=numbers(2, 3, 5), weight=numbers(4, 5), bias=numbers(4))
    case("layer_norm", lambda x, weight, bias: F.layer_norm(x, (7,), weight, bias),
         x=numbers(2, 3, 7), weight=numbers(7), bias=numbers(7))
    case("mlp", lambda x, w1, b1, w2, b2: F.linear(F.gelu(F.linear(x, w1, b1)), w2, b2),
         x=numbers(2, 3, 4), w1=numbers(16, 4), b1=numbers(16), w2=numbers(4, 16), b2=numbers(4))
    index = torch.tensor([[0, 4, 2], [4, 4, 1]])
    case("embedding", lambda weight: F.embedding(index, weight), weight=numbers(6, 3))
    target = torch.tensor([[0, 4, 2], [3, 3, 1]])
    case("language_model_loss", lambda logits: language_model_loss(logits, target),
         logits=numbers(2, 3, 5))
    adamw()

    case("attention", attend, q=numbers(2, 5, 4), k=numbers(2, 5, 4), v=numbers(2, 5, 3))
    case("more_keys", attend, q=numbers(2, 3, 4), k=numbers(2, 7, 4), v=numbers(2, 7, 3))
    case("window", window_attention, q=numbers(2, 6, 4), k=numbers(2, 6, 4), v=numbers(2, 6, 3))
    w = 0.4
    case("head", head, x=numbers(2, 5, 6), query=numbers(4, 6, scale=w), key=numbers(4, 6, scale=w),
         value=numbers(4, 6, scale=w))
    case("multi_head", multi_head(2), x=numbers(2, 5, 6), **weights(6))
    case("no_bias", multi_head(3), x=numbers(2, 5, 6), **weights(6, bias=False))
    case("grouped", multi_head(4, group=2), x=numbers(2, 5, 8), **weights(8, kv_width=4))
    case("multi_query", multi_head(4, group=4), x=numbers(2, 5, 8), **weights(8, kv_width=2))
    case("cross", multi_head(2, causal=False), x=numbers(2, 3, 6), context=numbers(2, 5, 6),
         **weights(6))
    case("block", block, x=numbers(2, 4, 6), n1w=numbers(6), n1b=numbers(6), n2w=numbers(6),
         n2b=numbers(6), w1=numbers(24, 6, scale=w), b1=numbers(24, scale=w),
         w2=numbers(6, 24, scale=w), b2=numbers(6, scale=w), **weights(6))


if __name__ == "__main__":
    main()

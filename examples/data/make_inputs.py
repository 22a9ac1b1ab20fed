#!/usr/bin/env python3
"""Makes inputs.safetensors from text.safetensors: examples/data/make_inputs.py

What the example patterns take as inputs, made from the sample's own queries and keys by plain
heuristics. Needs nothing but Python.
"""

import json
import os
import struct
from array import array

HERE = os.path.dirname(os.path.abspath(__file__))
GATE = 32  # elements that the gate of seer_attention compares


def read(path):
    """Tensors of a safetensors file as {name: (shape, list of numbers)}; BF16 and U8 only."""
    with open(path, "rb") as file:
        data = file.read()
    (header_bytes,) = struct.unpack_from("<Q", data)
    tensors = {}
    for name, entry in json.loads(data[8:8 + header_bytes]).items():
        begin, end = (8 + header_bytes + offset for offset in entry["data_offsets"])
        if entry["dtype"] == "BF16":
            widened = bytearray(2 * (end - begin))
            widened[2::4] = data[begin:end:2]
            widened[3::4] = data[begin + 1:end:2]
            tensors[name] = (entry["shape"], array("f", bytes(widened)))
        else:
            tensors[name] = (entry["shape"], data[begin:end])
    return tensors


def write(path, tensors):
    """tensors: {name: (dtype, shape, bytes)}."""
    header, offset = {}, 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + len(data)]}
        offset += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.write(b"".join(data for _, _, data in tensors.values()))


def block_means(values, tokens, heads, dim, block):
    """Mean vectors [head][block]."""
    means = []
    for head in range(heads):
        means.append([])
        for first in range(0, tokens, block):
            rows = [values[(t * heads + head) * dim:(t * heads + head + 1) * dim]
                    for t in range(first, min(first + block, tokens))]
            means[head].append([sum(column) / len(rows) for column in zip(*rows)])
    return means


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def variance(vectors, channel):
    values = [vector[channel] for vector in vectors]
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values) / len(values)


def highest(scores, count):
    return sorted(range(len(scores)), key=lambda i: (-scores[i], i))[:count]


def main():
    sample = read(os.path.join(HERE, "text.safetensors"))
    (tokens, heads, dim), q = sample["q"]
    (_, kv_heads, _), k = sample["k"]
    text = bytes(sample["tokens"][1])
    group = heads // kv_heads

    def key(t, head):
        return k[(t * kv_heads + head) * dim:(t * kv_heads + head + 1) * dim]

    # layout: of each row of blocks the first, the last two and the six best by pooled product.
    blocks = tokens // 128
    q_mean, k_mean = (block_means(x, tokens, n, dim, 128) for x, n in ((q, heads), (k, kv_heads)))
    layout = bytearray(heads * blocks * blocks)
    for head in range(heads):
        for row in range(blocks):
            scores = [dot(q_mean[head][row], k_mean[head // group][b]) for b in range(row + 1)]
            for b in {0, row, max(row - 1, 0), *highest(scores, 6)}:
                layout[(head * blocks + row) * blocks + b] = 1

    # blocks: the same at 64 x 64 for each KV head, as lists of 12 with -1 behind them.
    small, capacity = tokens // 64, 12
    q_mean, k_mean = (block_means(x, tokens, n, dim, 64) for x, n in ((q, heads), (k, kv_heads)))
    lists = array("i")
    for head in range(kv_heads):
        for row in range(small):
            queries = [q_mean[head * group + i][row] for i in range(group)]
            scores = [max(dot(v, k_mean[head][b]) for v in queries) for b in range(row + 1)]
            chosen = sorted({0, *highest(scores, capacity - 1)})
            lists.extend(chosen + [-1] * (capacity - len(chosen)))

    # importance: keys of small norm draw attention (Devoto et al., "L2 norm-based KV cache
    # compression", 2024). chosen: the 400 keys that the mean of the last 64 queries likes best.
    importance, chosen = array("f"), bytearray(kv_heads * tokens)
    for head in range(kv_heads):
        importance.extend(-dot(key(t, head), key(t, head)) for t in range(tokens))
        last = q_mean[head * group][-1]
        for i in range(1, group):
            last = [a + b for a, b in zip(last, q_mean[head * group + i][-1])]
        for t in highest([dot(last, key(t, head)) for t in range(tokens)], 400):
            chosen[head * tokens + t] = 1

    # start: a document begins after each blank line that is 500 or more bytes from the last.
    start, begin = array("i"), 0
    for t in range(tokens):
        if text[t - 2:t] == b"\n\n" and t - begin >= 500:
            begin = t
        start.append(begin)

    # kind: the heads of the first KV head are local and stream, the others run in full.
    kind = array("i", [0 if head < group else 1 for head in range(heads)])

    # gates: in place of learned weights, the 32 channels in which the pooled queries and keys of a KV head vary
    # most together; its largest and least elements stand in for a block beside its mean.
    q_mean, k_mean = (block_means(x, tokens, n, dim, 64) for x, n in ((q, heads), (k, kv_heads)))
    gate_query, gate_key = array("f"), array("f")
    for kv_head in range(kv_heads):
        own = [q_mean[kv_head * group + i] for i in range(group)]
        spread = [sum(variance(q_of, i) for q_of in own) * variance(k_mean[kv_head], i) for i in range(dim)]
        picked = sorted(highest(spread, GATE))
        gate_key.extend(float(i == channel) for channel in picked for i in range(dim))
        for _ in range(group):
            gate_query.extend(float(i == channel) for channel in picked for i in range(dim))
    extremes = array("f", [0.25 * x for x in gate_key])

    write(os.path.join(HERE, "inputs.safetensors"), {
        "layout": ("BOOL", [heads, blocks, blocks], bytes(layout)),
        "blocks": ("I32", [kv_heads, small, capacity], lists.tobytes()),
        "importance": ("F32", [kv_heads, tokens], importance.tobytes()),
        "chosen": ("BOOL", [kv_heads, tokens], bytes(chosen)),
        "start": ("I32", [tokens], start.tobytes()),
        "kind": ("I32", [heads], kind.tobytes()),
        "gate_query": ("F32", [heads, GATE, dim], gate_query.tobytes()),
        "gate_mean": ("F32", [kv_heads, GATE, dim], gate_key.tobytes()),
        "gate_max": ("F32", [kv_heads, GATE, dim], extremes.tobytes()),
        "gate_min": ("F32", [kv_heads, GATE, dim], extremes.tobytes()),
    })


if __name__ == "__main__":
    main()

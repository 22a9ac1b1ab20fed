"""Computes again, from the kept relation, what `skim run` wrote and printed:
recompute.py QKV OUT JSON [ROWS KEYS]

One contiguous or paged batch, causal, without rest, score change or sink. With ROWS and KEYS,
the tiles that hold a kept pair must be those that were visited.
"""

import json
import math
import struct
import sys

CODES = {"U8": "B", "BOOL": "B", "I32": "i", "I64": "q", "F32": "f", "F16": "e"}


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack_from("<Q", data)
    tensors = {}
    for name, entry in json.loads(data[8:8 + length]).items():
        begin, end = (8 + length + o for o in entry["data_offsets"])
        raw = data[begin:end]
        if entry["dtype"] == "BF16":
            values = [struct.unpack("<f", b"\0\0" + raw[i:i + 2])[0] for i in range(0, len(raw), 2)]
        else:
            code = CODES[entry["dtype"]]
            values = struct.unpack(f"<{len(raw) // struct.calcsize(code)}{code}", raw)
        tensors[name] = (entry["shape"], values)
    return tensors


def attend(scores, keep, values):
    """Output and log-sum-exp of one row over the keys where `keep`."""
    kept = [(s, v) for s, v, k in zip(scores, values, keep) if k]
    if not kept:
        return [0.0] * len(values[0]) if values else [], -math.inf
    top = max(s for s, _ in kept)
    weights = [math.exp(s - top) for s, _ in kept]
    total = sum(weights)
    out = [sum(w * v[i] for w, (_, v) in zip(weights, kept)) / total for i in range(len(kept[0][1]))]
    return out, top + math.log(total)


def close(name, got, expected, bound):
    if got is None or not abs(got - expected) <= bound:
        sys.exit(f"{name}: expected {expected} but got {got}")


qkv, result = read(sys.argv[1]), read(sys.argv[2])
with open(sys.argv[3], encoding="utf-8") as file:
    report = json.load(file)
(tokens, heads, dim), q = qkv["q"]
k_shape, k = qkv["k"]
v_shape, v = qkv["v"]
kv_heads, value_dim, page = k_shape[-2], v_shape[-1], k_shape[1] if len(k_shape) == 4 else 0
starts = qkv.get("cu_seqlens_q", (None, [0, tokens]))[1]
lengths = qkv.get("kv_lens", (None, [k_shape[0]]))[1]
kept_shape, kept = result["kept"]
longest = max(lengths, default=0)
assert kept_shape == [heads, tokens, longest], kept_shape
assert result["out"][0] == [tokens, heads, value_dim] and result["lse"][0] == [heads, tokens]

visible_pairs, kept_pairs, masses, errors, tiles = 0, 0, [], [], set()
first_key = 0
differences = [[0.0, 0.0] for _ in range(heads)]
head_masses = [[] for _ in range(heads)]
for request, length in enumerate(lengths):
    rows = starts[request + 1] - starts[request]
    slots = [first_key + t for t in range(length)]
    if page:
        table_shape, table = qkv["block_table"]
        slots = [table[request * table_shape[1] + t // page] * page + t % page for t in range(length)]
    for head in range(heads):
        at = [(slot * kv_heads + head // (heads // kv_heads)) for slot in slots]
        keys = [k[a * dim:(a + 1) * dim] for a in at]
        values = [v[a * value_dim:(a + 1) * value_dim] for a in at]
        for row in range(rows):
            token, position = starts[request] + row, length - rows + row
            query = q[(token * heads + head) * dim:(token * heads + head + 1) * dim]
            scores = [sum(x * y for x, y in zip(query, key)) / math.sqrt(dim) for key in keys]
            seen = [t <= position for t in range(length)]
            keep = kept[(head * tokens + token) * longest:][:length]
            assert all(s or not flag for s, flag in zip(seen, keep)), "a key of the future is kept"
            visible_pairs += sum(seen)
            kept_pairs += sum(keep)
            dense, dense_lse = attend(scores, seen, values)
            expected, lse = attend(scores, keep, values)
            got_lse = result["lse"][1][head * tokens + token]
            if lse == -math.inf:
                assert got_lse == -math.inf, f"row {token}: lse {got_lse} without a key"
            else:
                close(f"lse of head {head}, row {token}", got_lse, lse, 1e-4)
            for i in range(value_dim):
                got = result["out"][1][(token * heads + head) * value_dim + i]
                reference = expected[i] if expected else 0.0
                close(f"out of head {head}, row {token}", got, reference, 1e-4)
                plain = dense[i] if dense else 0.0
                differences[head][0] = max(differences[head][0], abs(got - plain))
                differences[head][1] = max(differences[head][1], abs(plain))
            if dense_lse != -math.inf:
                head_masses[head].append(math.exp(lse - dense_lse))
            if len(sys.argv) > 4:
                tile_rows, tile_keys = int(sys.argv[4]), int(sys.argv[5])
                tiles |= {(request, head, position // tile_rows, t // tile_keys)
                          for t, flag in enumerate(keep) if flag}
    first_key += length

assert report["visible_pairs"] == visible_pairs, (report["visible_pairs"], visible_pairs)
assert report["kept_pairs"] == kept_pairs, (report["kept_pairs"], kept_pairs)
close("density", report["density"], kept_pairs / visible_pairs, 1e-12)
for head in range(heads):
    close("kept mass", report["kept_mass_per_head"][head], sum(head_masses[head]) / len(head_masses[head]), 1e-4)
    difference, largest = differences[head]
    close("error", report["error_per_head"][head], difference / largest, 1e-4)
close("mean of the kept mass", report["kept_mass"], sum(report["kept_mass_per_head"]) / heads, 1e-12)
close("worst error", report["error"], max(report["error_per_head"]), 1e-12)
if len(sys.argv) > 4:
    assert report["tiles_visited"] == len(tiles), (report["tiles_visited"], len(tiles))
print("all agrees")

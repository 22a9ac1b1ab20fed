"""What `skim bench cpu --json` printed is complete, and its ratios are those of its times: check_bench.py FILE"""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    result = json.load(file)
for key, value in {"suite": "cpu", "tokens": 130, "query_heads": 8, "kv_heads": 2, "head_dim": 128, "threads": 1,
                   "repeats": 2, "peer": None, "peer_version": None, "peer_kernel": None}.items():
    assert result[key] == value, key
assert result["load_before"] >= 0 and result["load_after"] >= 0
rows = {(row["name"], row["dtype"]): row for row in result["rows"]}
assert len(rows) == len(result["rows"])
for dtype, bound in (("f32", 1e-5), ("bf16", 2e-3)):
    dense, lists = rows["dense", dtype], rows["block lists", dtype]
    assert ("flash_prefill selection", dtype) in rows and ("peak selection", dtype) in rows
    assert dense["beside"] is None and dense["ratio"] is None and dense["meets_bar"] is None
    assert dense["tiles"] == 1 and 0 < lists["tiles"] < 1
    for (_, row_type), row in rows.items():
        if row_type != dtype:
            continue
        assert 0 < row["fastest_seconds"] <= row["seconds"]
        if row["name"].endswith(" selection"):
            assert row["selection_seconds"] == row["seconds"]
        else:
            assert 0 <= row["selection_seconds"] < row["seconds"]
        assert 0 <= row["reference_error"] <= bound and row["peer_error"] is None
        if row is not dense:
            assert row["beside"] == "dense" and row["beside_seconds"] == dense["seconds"]
            assert abs(row["ratio"] - row["seconds"] / dense["seconds"]) < 1e-9
        # Bars are stated for prompts of 4096 tokens.
        assert row["bar"] is None and row["meets_bar"] is None
print("all agrees")

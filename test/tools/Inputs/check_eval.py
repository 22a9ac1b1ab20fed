"""Checks the JSON of `skim eval`: check_eval.py dense|close|dense_heads|density|last_rows FILE..."""

import json
import math
import sys


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def heads(point, name):
    return [value for layer in point[name] for value in layer]


def same_as_dense(path):
    """Dense attention as a pattern gives the numbers of the dense run."""
    report = read(path)
    dense = report["dense"]
    for point in report["points"]:
        for name in ("bits_per_byte", "retrieval", "questions", "answered"):
            assert point[name] == dense[name], (point["call"], name)
        assert point["density"] == 1 and set(heads(point, "density_per_head")) == {1}
        assert abs(point["kept_mass"] - 1) < 1e-5
    print("dense agrees")


def close(first, second):
    """Two devices agree up to their rounding."""
    for one, other in zip(read(first)["points"], read(second)["points"], strict=True):
        assert one["call"] == other["call"]
        assert abs(one["bits_per_byte"] - other["bits_per_byte"]) < 1e-4 * one["bits_per_byte"]
        assert one["density_per_head"] == other["density_per_head"]
        for a, b in zip(heads(one, "kept_mass_per_head"), heads(other, "kept_mass_per_head"), strict=True):
            assert abs(a - b) < 1e-4
    print("devices agree")


def dense_heads(path):
    """The heads that were asked for are dense, and no others."""
    report = read(path)
    asked = {tuple(head) for head in report["dense_heads"]} | {
        (layer, head) for layer in report["dense_layers"] for head in range(4)}
    assert asked
    (point,) = report["points"]
    for layer, row in enumerate(point["density_per_head"]):
        for head, density in enumerate(row):
            mass = point["kept_mass_per_head"][layer][head]
            if (layer, head) in asked:
                assert density == 1 and mass == 1
            else:
                assert density < 1 and 0 < mass <= 1
    assert point["bits_per_byte"] != report["dense"]["bits_per_byte"]
    print(len(asked), "heads are dense")


def density(path):
    """Every head keeps the pairs of sinks and window, counted here one by one."""
    report = read(path)
    length = report["context"]
    for point in report["points"]:
        sink, window = (int(part.split("=")[1]) for part in point["call"][:-1].split("(")[1].split(","))
        kept = sum(k < sink or q - k < window for q in range(length) for k in range(q + 1))
        expected = kept / (length * (length + 1) // 2)
        for value in heads(point, "density_per_head") + [point["density"]]:
            assert math.isclose(value, expected), (point["call"], value, expected)
        assert len(heads(point, "kept_mass_per_head")) == 32
        mean = sum(heads(point, "kept_mass_per_head")) / 32
        assert math.isclose(point["kept_mass"], mean, rel_tol=1e-9)
    masses = [point["kept_mass"] for point in report["points"]]
    assert masses == sorted(masses), masses
    print(len(masses), "densities are right")


def last_rows(every, last):
    """Of a window that leaves out nothing in the first half of the rows, the mass over all rows says that over the
    last half."""
    (one,), (other,) = read(every)["points"], read(last)["points"]
    assert read(every)["mass_rows"] == 2 * read(last)["mass_rows"]
    assert one["bits_per_byte"] == other["bits_per_byte"]
    below = 0
    for a, b in zip(heads(one, "kept_mass_per_head"), heads(other, "kept_mass_per_head"), strict=True):
        assert abs(2 * a - 1 - b) < 1e-6, (a, b)
        below += b < 0.9
    assert below > 0
    print("rows agree")


{"last_rows": last_rows, "dense": same_as_dense, "close": close, "dense_heads": dense_heads, "density": density}[sys.argv[1]](*sys.argv[2:])

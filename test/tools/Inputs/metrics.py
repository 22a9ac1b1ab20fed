"""Parses metrics with Prometheus' own client and compares them with the JSON of the same run:
metrics.py METRICS JSON REPEATS PROBED COMPILED HITS MISSES EVICTIONS"""
import json
import sys

from prometheus_client.parser import text_string_to_metric_families

with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()
with open(sys.argv[2], encoding="utf-8") as file:
    run = json.load(file)
repeats, probed = int(sys.argv[3]), float(sys.argv[4])
compiled, hits, misses, evictions = map(int, sys.argv[5:])

families = {family.name: family for family in text_string_to_metric_families(text)}
samples = {}
for family in families.values():
    assert family.documentation and family.type in ("counter", "gauge", "histogram"), family
    for sample in family.samples:
        key = (sample.name, tuple(sorted(sample.labels.items())))
        assert key not in samples, key
        samples[key] = sample.value
        # Conventions: one prefix, base units, `_total` on counters alone.
        assert sample.name.startswith("skim_"), sample.name
        assert sample.name.endswith("_total") == (family.type == "counter"), sample.name
    if family.type == "histogram":
        assert family.name.endswith(("_seconds", "_ratio")), family.name


def value(name, **labels):
    return samples[(name, tuple(sorted(labels.items())))]


def of_pattern(name):
    return value(name, pattern=run["pattern"])


def check(name, actual, expected):
    if abs(actual - expected) > 1e-9 * max(1, abs(expected)):
        sys.exit(f"{name}: expected {expected} but got {actual}")


check("runs", of_pattern("skim_runs_total"), repeats)
for name, field in [
    ("skim_run_requests_total", "requests"),
    ("skim_run_query_tokens_total", "query_tokens"),
    ("skim_run_key_tokens_total", "key_tokens"),
    ("skim_run_visible_pairs_total", "visible_pairs"),
    ("skim_run_kept_pairs_total", "kept_pairs"),
    ("skim_run_tiles_visited_total", "tiles_visited"),
    ("skim_run_tiles_masked_total", "tiles_masked"),
    ("skim_run_rest_entries_total", "rest_entries"),
]:
    check(name, of_pattern(name), repeats * run[field])
check("density", of_pattern("skim_run_density_ratio"), run["density"])
# What was compiled: the pattern, and with a probe the dense one beside it. The time of the whole step, reading a bundle or
# the cache included, is what the run printed.
check("compiled", value("skim_compile_seconds_count"), compiled)
assert compiled == 0 or value("skim_compile_seconds_sum") > 0
if probed == 0:
    assert value("skim_compile_seconds_sum") <= run["compile_seconds"]
for result, expected in [("hit", hits), ("miss", misses)]:
    check(result, value("skim_kernel_cache_lookups_total", result=result), expected)
check("evictions", value("skim_kernel_cache_evictions_total"), evictions)
for name in ["skim_run_selection_seconds", "skim_run_attention_seconds"]:
    check(name, of_pattern(name + "_count"), repeats)
    check(name, value(name + "_bucket", pattern=run["pattern"], le="+Inf"), repeats)
if repeats == 1:
    check("attention", of_pattern("skim_run_attention_seconds_sum"), run["attention_seconds"])

# Every row of every head, at rate 1, repeated.
rows = of_pattern("skim_probe_kept_mass_ratio_count")
if probed == 1:
    check("rows", rows, repeats * run["query_tokens"] * run["query_heads"])
    mass = of_pattern("skim_probe_kept_mass_ratio_sum") / rows
    if abs(mass - run["kept_mass"]) > 1e-5:
        sys.exit(f"kept mass: expected {run['kept_mass']} but got {mass}")
    assert of_pattern("skim_probe_output_error_ratio_count") == rows
    assert of_pattern("skim_probe_seconds_total") > 0
elif probed == 0:
    check("rows", rows, 0)
print("all agrees")

"""Writes a safetensors file: tensors.py FILE NAME=TYPE:[EXTENTS][=VALUES] ...

Values are a comma-separated list; one value fills the tensor; without values it holds
pseudo-random numbers within (-1, 1) that depend on the name alone.
"""

import json
import random
import struct
import sys

CODES = {"BOOL": "B", "U8": "B", "I8": "b", "I32": "i", "I64": "q", "F32": "f", "F16": "e", "F64": "d"}


def pack(kind, values):
    if kind == "BF16":
        return b"".join(struct.pack("<f", v)[2:] for v in values)
    number = float if kind.startswith("F") else int
    return struct.pack(f"<{len(values)}{CODES[kind]}", *map(number, values))


header, data = {}, b""
for argument in sys.argv[2:]:
    name, _, rest = argument.partition("=")
    kind, _, rest = rest.partition(":")
    shape, _, listed = rest.partition("=")
    shape = json.loads(shape)
    count = 1
    for extent in shape:
        count *= extent
    if listed:
        values = [float(v) for v in listed.split(",")]
        values = values * count if len(values) == 1 else values
    else:
        source = random.Random(name)
        values = [source.uniform(-1, 1) for _ in range(count)]
    assert len(values) == count, f"{name}: {len(values)} values for {count} elements"
    packed = pack(kind, values)
    header[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(data), len(data) + len(packed)]}
    data += packed
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + data)

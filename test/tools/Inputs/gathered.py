"""What `skim run --out` wrote of a pattern with `compact`: gathered.py FILE"""

import json
import struct
import sys

with open(sys.argv[1], "rb") as file:
    data = file.read()
(length,) = struct.unpack_from("<Q", data)
header = json.loads(data[8:8 + length])
for name in ("compact_positions", "compact_counts"):
    if name not in header:
        print(f"no {name}")
        continue
    begin, end = (8 + length + offset for offset in header[name]["data_offsets"])
    values = list(struct.unpack(f"<{(end - begin) // 4}i", data[begin:end]))
    print(name, header[name]["dtype"], header[name]["shape"], values)

"""Tiered compaction in another process: a level that has T runs becomes one run of the next level.

    policy.py [T]        T is 10 unless it is given
"""

import json
import sys


def pick(shape, size_ratio):
    """The next job for a shape, or None where the tree is as it should be."""
    full = [(len(runs), level) for level, runs in enumerate(shape["levels"]) if len(runs) >= size_ratio]
    if not full:
        return None
    # The level with the most runs goes first, and of two that have as many the deeper one.
    _, level = max(full)
    tables = [table["id"] for run in shape["levels"][level] for table in run["tables"]]
    return {"inputs": tables, "level": level + 1, "run": None, "action": "merge"}


size_ratio = int(sys.argv[1]) if len(sys.argv) > 1 else 10
for line in sys.stdin:
    message = json.loads(line)
    answer = {"protocol": 1} if "protocol" in message else pick(message, size_ratio)
    print(json.dumps(answer), flush=True)

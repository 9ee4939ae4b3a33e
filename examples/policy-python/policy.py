"""Tiered compaction in another process: if a level has T runs, they become one run of the next level.

    policy.py [T]        The default of T is 10.
"""

import json
import sys


def pick(shape, size_ratio):
    """Returns the next job for a shape, or None if the tree needs no job."""
    full = [(len(runs), level) for level, runs in enumerate(shape["levels"]) if len(runs) >= size_ratio]
    if not full:
        return None
    # The level with the most runs comes first. Among levels with equally many runs, the deepest one comes first.
    _, level = max(full)
    tables = [table["id"] for run in shape["levels"][level] for table in run["tables"]]
    return {"inputs": tables, "level": level + 1, "run": None, "action": "merge"}


size_ratio = int(sys.argv[1]) if len(sys.argv) > 1 else 10
for line in sys.stdin:
    message = json.loads(line)
    answer = {"protocol": 1} if "protocol" in message else pick(message, size_ratio)
    print(json.dumps(answer), flush=True)

#!/usr/bin/env python3
"""Compares `lsmbench tune` with Optuna and SMAC, with equal numbers of runs on equal designs.

Usage: compare_tuners.py [--lsmbench PROGRAM] [--work FOLDER] [--workloads NAMES] [--tuners NAMES] [--runs N]
                         [--seeds N] [--trace FILE] [--all]

--lsmbench   the program (default: lsmbench)
--work       the folder for experiment files, results and the values of finished runs (default: compare-tuners)
--workloads  a list of ycsb-a, ycsb-e, mixgraph, queue and trace, separated by commas (default: all)
--tuners     a list of lsmbench, optuna, smac and random, separated by commas (default: all that are installed)
--runs       the runs that each tuner may measure (default: 24)
--seeds      the number of seeds of each random tuner (default: 20)
--trace      a trace of keys as big-endian numbers of 32 bits, or such a file compressed with xz
--all        also measure all designs, which shows how far each tuner is from the best design

A run is `lsmbench run` in counted mode on a modeled device. Its objective is the time of the device per operation,
which is equal in each run, so a finished run is not repeated. All tuners search the same designs: a policy, a size
ratio, a block size, and a split of one memory budget between memtables and filters. A design that a tuner requests
twice counts once. The time of a tuner is its own time plus the time of its runs. """

import argparse
import csv
import importlib.util
import itertools
import json
import lzma
import math
import random
import statistics
import struct
import subprocess
import sys
import time
from pathlib import Path

POLICIES = ["leveled", "tiered", "lazy-leveled", "l0-tiered"]
RATIOS = [2, 3, 4, 6, 8, 10]
BITS = [2, 4, 6, 8, 10, 12, 16]
BLOCKS = ["1KiB", "4KiB", "16KiB"]
AXES = {"policy": POLICIES, "ratio": RATIOS, "bits": BITS, "block": BLOCKS}

OBJECTIVE = "device_ns_per_op"
# The number of accesses of the trace.
ACCESSES = 15_000

LOAD = """
[[phase]]
name   = "load"
insert = {keys}
value  = {value}
"""

RUN = """
[[phase]]
name       = "run"
operations = {operations}
value      = {value}
"""

# For each workload: the keys of the load, the bytes of memory, the format of keys, the values, and the mix.
WORKLOADS = {
    "ycsb-a": (
        4_000, 64 << 10, 'key = "user"', '{ kind = "fixed", bytes = 1000, compressible = 0.0 }', 8_000,
        'mix = { get = 0.5, put = 0.5 }\nkeys = "ycsb-scrambled"\n',
    ),
    "ycsb-e": (
        4_000, 64 << 10, 'key = "user"', '{ kind = "fixed", bytes = 1000, compressible = 0.0 }', 2_000,
        'mix = { range = 0.95, insert = 0.05 }\nkeys = "ycsb-scrambled"\n'
        'range = { kind = "uniform", min = 1, max = 100 }\n',
    ),
    "mixgraph": (
        8_000, 64 << 10, 'key = { format = "u64", bytes = 48 }', '{ kind = "pareto", compressible = 0.5 }', 16_000,
        'mix = { get = 0.85, put = 0.14, range = 0.01 }\nkeys = "mixgraph"\nrange = { kind = "pareto" }\n',
    ),
    "queue": (
        5_000, 48 << 10, 'key = { format = "u64", bytes = 16 }', '{ kind = "fixed", bytes = 100 }', 20_000,
        'mix = { insert = 0.3, delete = 0.3, get = 0.3, range = 0.1 }\nkeys = "sequential"\n'
        'range = { kind = "uniform", min = 1, max = 10 }\n',
    ),
    "trace": (
        None, 48 << 10, 'key = "trace"', '{ kind = "fixed", bytes = 100 }', ACCESSES,
        'replay = { kind = "raw", file = "accesses.bin", width = 4, endian = "big" }\nmix = { get = 0.7, put = 0.3 }\n',
    ),
}


def fail(message):
    """Ends the program with an error."""
    print(f"compare_tuners.py: {message}", file=sys.stderr)
    sys.exit(2)


class Workload:
    """The designs of a workload, and the objective of each design that was run."""

    def __init__(self, name, options):
        self.name, self.program = name, options.lsmbench
        self.folder = options.work / name
        self.folder.mkdir(parents=True, exist_ok=True)
        keys, self.memory, key, value, operations, mix = WORKLOADS[name]
        self.keys = self.copy_trace(options.trace) if keys is None else keys
        self.text = f'question = "Which design for {name}?"\n{key}\n'
        self.phases = LOAD.format(keys=self.keys, value=value) + RUN.format(operations=operations, value=value) + mix
        # Another experiment or program gives other objectives, so the objectives are not reused for it.
        version = subprocess.run([self.program, "--version"], capture_output=True, text=True, check=True).stdout
        self.file = self.folder / "finished.jsonl"
        self.head = json.dumps([version, self.experiment([("leveled", 2, 2, "1KiB")])])
        self.finished = self.read_finished()

    def copy_trace(self, trace):
        """Copies the first accesses of the trace, and returns the number of their keys."""
        with (lzma.open if trace.suffix == ".xz" else open)(trace, "rb") as file:
            accesses = file.read(4 * ACCESSES)
        (self.folder / "accesses.bin").write_bytes(accesses)
        return len(set(struct.unpack(f">{len(accesses) // 4}I", accesses)))

    def read_finished(self):
        """Returns the objective and the seconds of each design that an earlier comparison has run."""
        lines = self.file.read_text().splitlines() if self.file.exists() else []
        if not lines or lines[0] != self.head:
            self.file.write_text(self.head + "\n")
            return {}
        return {tuple(point): (value, seconds) for point, value, seconds in map(json.loads, lines[1:])}

    def capacity(self, bits):
        """Returns the capacity of a memtable: half of the memory that the filters leave, because a tree has two."""
        return (self.memory - self.keys * bits // 8) // 2

    def experiment(self, points, end=""):
        """Returns an experiment whose configurations are these designs."""
        sweep = {
            "design.compaction": [f"{policy}(size_ratio={ratio})" for policy, ratio, _, _ in points],
            "design.bloom": [f"standard(bits_per_key={bits})" for _, _, bits, _ in points],
            "design.memtable.capacity": [f"{self.capacity(bits)}B" for _, _, bits, _ in points],
            "design.block.size": [block for _, _, _, block in points],
        }
        design = '[design]\nwal = "none"\ncache = "none"\nstorage = "simulated"\ntable.capacity = "256KiB"\n'
        paths = "".join(f'"{path}" = {json.dumps(values)}\n' for path, values in sweep.items())
        trials = '[trials]\nmode = "counted"\ncount = 1\n'
        return f'{self.text}{design}{self.phases}[sweep]\ncombine = "zip"\n{paths}{trials}{end}'

    def lsmbench(self, command, text):
        """Runs a command with an experiment. Returns the folder of its results, and the seconds of the command."""
        file = self.folder / "experiment.toml"
        file.write_text(text)
        out = self.folder / "results"
        begun = time.monotonic()
        arguments = [self.program, command, str(file), "--out", str(out)]
        arguments += ["--plots", str(self.folder / "plots"), "--no-page"] if command == "run" else []
        done = subprocess.run(arguments, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            fail(f"{' '.join(arguments)}: {done.stderr}")
        return out, time.monotonic() - begun

    def run(self, points):
        """Runs the designs that have not run, and returns the objective of each design."""
        missing = [point for point in dict.fromkeys(points) if point not in self.finished]
        if missing:
            out, seconds = self.lsmbench("run", self.experiment(missing))
            with open(out / "experiment" / "runs.csv", newline="") as file:
                rows = [row for row in csv.DictReader(file) if row["phase"] == "run" and row["operation"] == "all"]
            with open(self.file, "a") as file:
                for row in rows:
                    point, value = missing[int(row["cell"])], float(row[OBJECTIVE])
                    self.finished[point] = (value, seconds / len(missing))
                    file.write(json.dumps([point, value, seconds / len(missing)]) + "\n")
        return [self.finished[point][0] for point in points]


class Budget:
    """The runs that one search may make. A design that the search requests again is free."""

    def __init__(self, workload, runs):
        self.workload, self.runs, self.seen = workload, runs, {}

    def is_spent(self):
        """Returns whether the search has used all its runs."""
        return len(self.seen) >= self.runs

    def value(self, point):
        """Returns the objective of a design. Runs the design if it has not run yet."""
        self.seen[point] = self.workload.run([point])[0]
        return self.seen[point]

    def seconds(self):
        """Returns the total seconds of the runs of this search."""
        return sum(self.workload.finished[point][1] for point in self.seen)


def random_search(budget, seed):
    """Runs random designs."""
    points = list(itertools.product(*AXES.values()))
    for point in random.Random(seed).sample(points, budget.runs):
        budget.value(point)


def optuna_search(budget, seed):
    """Runs the designs that Optuna's default sampler, TPE, requests."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    # TPE may request known designs again and again.
    for _ in range(50 * budget.runs):
        if budget.is_spent():
            break
        trial = study.ask()
        policy = trial.suggest_categorical("policy", POLICIES)
        # The other axes have an order, so they are numbers.
        others = [AXES[axis][trial.suggest_int(axis, 0, len(AXES[axis]) - 1)] for axis in ["ratio", "bits", "block"]]
        study.tell(trial, budget.value((policy, *others)))


def smac_search(budget, seed):
    """Runs the designs that SMAC's facade for algorithms with few runs requests: random forests."""
    import logging
    import tempfile

    from ConfigSpace import Categorical, ConfigurationSpace, OrdinalHyperparameter
    from smac import HyperparameterOptimizationFacade as Facade
    from smac import Scenario

    space = ConfigurationSpace(seed=seed)
    space.add(Categorical("policy", POLICIES))
    space.add([OrdinalHyperparameter(axis, AXES[axis]) for axis in ["ratio", "bits", "block"]])

    def objective(config, seed=0):
        del seed  # The objective is exact.
        # The values of a configuration have types of numpy.
        return budget.value(tuple(next(value for value in AXES[axis] if value == config[axis]) for axis in AXES))

    with tempfile.TemporaryDirectory() as folder:
        scenario = Scenario(
            space, deterministic=True, n_trials=budget.runs, seed=seed, output_directory=Path(folder)
        )
        Facade(scenario, objective, overwrite=True, logging_level=logging.ERROR).optimize()


SEARCHES = {"optuna": optuna_search, "smac": smac_search, "random": random_search}


def advised(workload, runs):
    """Returns the best objective that `lsmbench tune` finds with this number of counted runs, and its seconds."""
    points = list(itertools.product(*AXES.values()))
    end = f'[tune]\nminimise = "{OBJECTIVE} in run"\ncount = {runs}\nconfirm = false\n'
    out, seconds = workload.lsmbench("tune", workload.experiment(points, end))
    with open(out / "experiment-tune" / "candidates.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    counted = [float(row[f"{OBJECTIVE}_counted"]) for row in rows if row[f"{OBJECTIVE}_counted"]]
    if len(counted) != runs:
        fail(f"lsmbench tune counted {len(counted)} designs instead of {runs}")
    return min(counted), seconds


def interval(values):
    """Returns the median, and its 95 % confidence interval by ranks, or the range of fewer than six values."""
    values = sorted(values)
    cut = 0
    # The largest number of values on each side for which the interval keeps 95 %.
    while cut + 1 < len(values) / 2:
        outside = 2 * sum(math.comb(len(values), rank) for rank in range(cut + 2)) / 2 ** len(values)
        if outside > 0.05:
            break
        cut += 1
    return statistics.median(values), values[cut], values[-1 - cut]


def compare(workload, tuners, options):
    """Prints the rows of a workload."""
    best = None
    if options.all:
        best = min(workload.run(list(itertools.product(*AXES.values()))))
    for tuner in tuners:
        if tuner == "lsmbench":
            found, seconds = advised(workload, options.runs)
            median, low, high, seeds = found, found, found, "–"
        else:
            values, times = [], []
            for seed in range(options.seeds):
                budget, begun = Budget(workload, options.runs), time.monotonic()
                before = sum(seconds for _, seconds in workload.finished.values())
                SEARCHES[tuner](budget, seed)
                # The wall time includes the runs that no earlier search had made.
                made = sum(seconds for _, seconds in workload.finished.values()) - before
                values.append(min(budget.seen.values()))
                times.append(time.monotonic() - begun - made + budget.seconds())
            (median, low, high), seconds, seeds = interval(values), statistics.median(times), options.seeds
        regret = "" if best is None else f"{(median / best - 1) * 100:.1f} %"
        cells = [workload.name, tuner, f"{median:.0f}", f"{low:.0f} to {high:.0f}", regret, seeds, f"{seconds / 60:.2f}"]
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def arguments():
    """Parses the command line."""
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--lsmbench", default="lsmbench")
    parser.add_argument("--work", type=Path, default=Path("compare-tuners"))
    parser.add_argument("--workloads", default=",".join(WORKLOADS))
    parser.add_argument("--tuners", default="")
    parser.add_argument("--runs", type=int, default=24)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--trace", type=Path)
    parser.add_argument("--all", action="store_true")
    return parser.parse_args()


def main():
    """Prints a Markdown table with one row for each workload and tuner."""
    options = arguments()
    installed = [name for name in ["optuna", "smac"] if importlib.util.find_spec(name)]
    tuners = options.tuners.split(",") if options.tuners else ["lsmbench", *installed, "random"]
    workloads = options.workloads.split(",")
    for known, names in [(WORKLOADS, workloads), (["lsmbench", *SEARCHES], tuners)]:
        for name in names:
            if name not in known:
                fail(f'"{name}" is unknown. Valid: {", ".join(known)}')
    for name in ["optuna", "smac"]:
        if name not in installed:
            print(f"NOT CHECKED: {name}, which is not installed; pip install {name}", file=sys.stderr)
    tuners = [name for name in tuners if name in ["lsmbench", "random", *installed]]
    print(f"| workload | tuner | best {OBJECTIVE} with {options.runs} runs | 95 % CI over seeds | above the best design "
          "| seeds | minutes |")
    print("|---|---|--:|--:|--:|--:|--:|")
    for name in workloads:
        if name == "trace" and not (options.trace and options.trace.exists()):
            print("NOT CHECKED: the workload trace, because --trace names no file", file=sys.stderr)
            continue
        compare(Workload(name, options), tuners, options)


if __name__ == "__main__":
    main()

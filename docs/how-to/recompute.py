#!/usr/bin/env python3
"""Recomputes one verdict of a results folder with pandas, compares it with verdicts.csv, and redraws one chart.

Usage: recompute.py RESULTS [--metric NAME] [--candidate NAME] [--within TEXT] [--chart FILE]

RESULTS    a results folder, such as results/quickstart
--metric, --candidate, --within
           select the row of verdicts.csv; the first matching row by default
--chart    the figure: its ending selects the format (svg, pdf, png)

Exit status: 0 the recomputed numbers agree, 1 they differ, 2 the verdict cannot be recomputed.
"""

import argparse
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd

RESAMPLES = 10_000
CONFIDENCE = 0.95
FEWEST_TRIALS = 6
FACTORS = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
FACTORS |= {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}


def arguments():
    """Parses the command line."""
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("--metric")
    parser.add_argument("--candidate")
    parser.add_argument("--within")
    parser.add_argument("--chart", type=Path)
    return parser.parse_args()


def fail(message):
    """Ends the program: the verdict cannot be recomputed."""
    print(f"recompute.py: {message}", file=sys.stderr)
    sys.exit(2)


def load(folder, name):
    """Reads a CSV file of the folder. An empty field was not measured, and becomes NaN."""
    # pandas would read labels such as "None" and "null" as missing values.
    return pd.read_csv(folder / name, keep_default_na=False, na_values=[""])


def select(verdicts, options):
    """Returns the row of verdicts.csv that the options select."""
    for column in ["metric", "candidate", "within"]:
        wanted = getattr(options, column)
        if wanted is not None:
            verdicts = verdicts[verdicts[column] == wanted]
    if verdicts.empty:
        fail("no row of verdicts.csv matches")
    return verdicts.iloc[0]


def number(text):
    """Returns a swept value as a number. A size such as 4MiB is its number of bytes. A name gives NaN."""
    size = re.fullmatch(r"([0-9.]+) ?([kKMGT]i?)?B", text)
    try:
        return float(size[1]) * FACTORS[size[2] or ""] if size else float(text)
    except ValueError:
        return np.nan


def judged_rows(runs, verdict):
    """Selects the rows of runs.csv of the verdict, by phase, operation, and the swept values in `within`."""
    rows = runs[(runs["phase"] == verdict["phase"]) & (runs["operation"] == verdict["operation"])]
    within = verdict["within"]
    for part in [] if pd.isna(within) else within.split(", "):
        title, value = part.split(" = ", 1)
        column = next(name for name in runs.columns if name == title or name.endswith("." + title))
        same = rows[column].astype(str).map(number) == number(value)
        rows = rows[same | (rows[column].astype(str) == value)]
    return rows


def values_of(rows, name, metric):
    """Returns the metric of one configuration, by trial."""
    labels = rows["label"].unique()
    # Within a group the name leaves out the parameters that all configurations have in common.
    label = name if name in labels else next(label for label in labels if label.split("(")[0] == name)
    return rows[rows["label"] == label].set_index("trial")[metric].dropna()


def interval(logs):
    """Returns the confidence interval of the median over rounds, as logarithms, by a percentile bootstrap."""
    if np.ptp(logs) == 0 and len(logs) > 1:
        return logs[0], logs[0]  # Counters are exact.
    if len(logs) < FEWEST_TRIALS:
        return np.nan, np.nan
    random = np.random.default_rng(42)
    drawn = random.choice(logs, size=(RESAMPLES, len(logs)), replace=True)
    medians = np.sort(np.median(drawn, axis=1))
    skipped = int((1 - CONFIDENCE) / 2 * RESAMPLES)
    return medians[skipped], medians[-1 - skipped]


def recompute(runs, verdict):
    """Returns the ratio candidate / baseline and its interval, from the rows of runs.csv."""
    rows = judged_rows(runs, verdict)
    baseline = values_of(rows, verdict["baseline"], verdict["metric"])
    candidate = values_of(rows, verdict["candidate"], verdict["metric"])
    # Trials of the same round are pairs: a slowdown of the whole round cancels.
    pairs = pd.concat([baseline, candidate], axis=1, keys=["baseline", "candidate"]).dropna()
    if pairs.empty or (pairs <= 0).any(axis=None):
        fail("a value is missing or not positive, so there is no ratio")
    logs = np.log(pairs["candidate"]) - np.log(pairs["baseline"])
    low, high = interval(logs.to_numpy())
    return {"ratio": np.exp(logs.median()), "ratio_low": np.exp(low), "ratio_high": np.exp(high)}


def draw(runs, verdict, file):
    """Draws the metric of each configuration: a point per trial, and a line at the median."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = judged_rows(runs, verdict).dropna(subset=[verdict["metric"]])
    figure, axes = pyplot.subplots(figsize=(3.33, 2.5), layout="constrained")
    labels = rows["label"].unique()
    for place, label in enumerate(labels):
        values = rows.loc[rows["label"] == label, verdict["metric"]]
        axes.plot([place] * len(values), values, "o", alpha=0.5, color="tab:blue")
        axes.hlines(values.median(), place - 0.3, place + 0.3, color="black")
    axes.set_xticks(range(len(labels)), labels)
    axes.set_ylabel(verdict["metric"])
    axes.set_ylim(bottom=0)
    axes.set_title(f"{verdict['metric']}, phase {verdict['phase']}", fontsize="medium")
    figure.savefig(file)


def main():
    options = arguments()
    try:
        runs, verdicts = load(options.results, "runs.csv"), load(options.results, "verdicts.csv")
    except OSError as error:
        fail(error)
    verdict = select(verdicts, options)
    found = recompute(runs, verdict)
    print(f"{verdict['candidate']} vs {verdict['baseline']}, {verdict['metric']} in phase {verdict['phase']}")
    agree = True
    for name, value in found.items():
        stored = verdict[name]
        if pd.isna(value):
            if not pd.isna(stored):
                print(f"  {name:<10} not recomputed: {FEWEST_TRIALS} trials are needed   verdicts.csv {stored:.6f}")
            continue
        # The ratio is exact. The resamples of the interval are drawn by another generator.
        tolerance = 1e-9 if name == "ratio" else 0.01
        agrees = abs(value - stored) <= tolerance * stored
        agree = agree and agrees
        print(f"  {name:<10} recomputed {value:.6f}   verdicts.csv {stored:.6f}   {'agrees' if agrees else 'DIFFERS'}")
    if options.chart:
        draw(runs, verdict, options.chart)
        print(f"  chart      {options.chart}")
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())

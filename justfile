# What there is to do in this repository. `just` alone lists it.

# Features of the build for `just peers`: engines that are compiled in.
engines := "peers"

[private]
default:
    @just --list

# Build the program and run the main example.
quickstart:
    cargo run --release -- run configs/quickstart.toml

# Run every test.
test:
    cargo test --workspace

# Run every test with all of its cases, of which `just test` and CI try a sample where they are many.
nightly:
    LSMBENCH_NIGHTLY=1 cargo test --workspace

# Everything CI runs.
ci:
    .ci/run

# Parts of an experiment on a Slurm of this machine: two virtual nodes, one task requeued, one node that fails. Not in CI, because its timing varies.
slurm:
    .ci/slurm

# Every adapter of another engine held to its laws, as CI does; LSMBENCH_REWRITE=1 writes the table of docs/reference/engines.md.
adapters:
    bash -c 'set -eu; . .ci/engines; cargo test --workspace --features "$peers" --test adapters'

# Format the code and apply what clippy can mend.
fix:
    cargo fmt --all
    cargo clippy --workspace --all-targets --fix --allow-dirty

# Run every shipped experiment small.
quick:
    cargo run --release -- run configs/*.toml configs/components/*.toml --quick

# The claims of five documents judged again from a quick run of all their experiments, into the folders that git keeps.
report *arguments:
    cargo run --release -- report experiments --quick --keep results/published {{arguments}}

# The pages of the report in headless Chromium, wide and narrow, light and dark, with pictures of them in a folder.
pages shots="target/pages" *arguments:
    .ci/pages --shots {{shots}} {{arguments}}

# Run the experiments of docs/gallery.md and the quick start of the README again, and update both pages and their charts.
gallery *arguments:
    cargo run --release -- gallery {{arguments}}
    cargo run --release -- gallery configs/quickstart.toml --page README.md --tables --keep results/gallery {{arguments}}

# Every engine that is there beside our own tree, by all of configs/peers: what is measured into results/peers, which git
# keeps, the tables into docs/results/engines.md. Arguments go to the run; `just engines=peers,wiredtiger peers --resume`.
peers *arguments:
    cargo run --release --features {{engines}} -- run configs/peers/*.toml --out results/beside {{arguments}}
    cargo run --release --features {{engines}} -- engines results/beside --keep results/peers --into docs/results/engines.md

# The tables of docs/results/engines.md again, from the results that git keeps.
engine-tables *arguments:
    cargo run --release -- engines results/peers --into docs/results/engines.md {{arguments}}

# Look for inputs that break a reader, with libFuzzer, as `just fuzz table 60`; without arguments, name the targets.
fuzz *arguments:
    .ci/fuzz {{arguments}}

# Run the criterion benches of one crate, as `just bench bloom`.
bench crate *arguments:
    cargo bench -p lsmbench-{{crate}} -- {{arguments}}

# Write the generated reference again: all pages of docs/reference.
docs:
    cargo run --release --quiet -- list --reference docs/reference

# The tests under the address and the thread sanitizer, with a nightly toolchain.
sanitize *which:
    .ci/sanitize {{which}}

# The structures without locks in all their interleavings, and with each of their orderings weakened.
loom:
    cargo test -p lsmbench-interleave -- --nocapture

# Measure the prose of pages, docstrings and literals: words per sentence, free "what", retired words; `--list` shows where.
prose *arguments:
    .ci/prose.py {{arguments}}

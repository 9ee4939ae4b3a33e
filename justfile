# The commands of this repository. `just` without arguments lists them.

# Cargo features for `just peers`: the engines that are compiled into lsmbench.
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

# Run every test with all of its cases. If a test has many cases, `just test` and CI run a sample of them.
nightly:
    LSMBENCH_NIGHTLY=1 cargo test --workspace

# Run everything that CI runs.
ci:
    .ci/run

# Run the parts of an experiment on a local Slurm with two virtual nodes, one requeued task and one failing node. Not in CI, because the timing varies.
slurm:
    .ci/slurm

# Check the invariants of the adapters of other engines: those of CI, and SQLite, bf-tree and SurrealKV. LSMBENCH_REWRITE=1 writes the table in docs/reference/engines.md.
adapters:
    bash -c 'set -eu; . .ci/engines; cargo test --workspace --features "$peers,more-peers" --test adapters'

# Format the code and apply the fixes of clippy.
fix:
    cargo fmt --all
    cargo clippy --workspace --all-targets --fix --allow-dirty

# Run every shipped experiment at reduced size.
quick:
    cargo run --release -- run configs/*.toml configs/components/*.toml --quick --out target/quick/results --plots target/quick/plots

# Run all experiments on the five documents at reduced size, judge the claims again, and update the report in git.
report *arguments:
    cargo run --release -- report experiments --quick --keep results/published {{arguments}}

# Check the pages of the report in headless Chromium (wide, narrow, light and dark), and save screenshots in a folder.
pages shots="target/pages" *arguments:
    .ci/pages --shots {{shots}} {{arguments}}

# Build the static site of all kept results and documents.
site out="target/site":
    cargo run --release --quiet -- site --out {{out}}

# Run the experiments of docs/gallery.md and the quick start of the README again, and update both pages and their charts.
gallery *arguments:
    cargo run --release -- gallery {{arguments}}
    cargo run --release -- gallery configs/quickstart.toml --page README.md --tables --keep results/gallery {{arguments}}

# The measured rows go to results/peers in git, and the tables to docs/results/engines.md.
# Compare all installed engines with our own tree in all experiments of configs/peers, such as `just engines=peers,wiredtiger peers --resume`.
peers *arguments:
    cargo run --release --features {{engines}} -- run configs/peers/*.toml --out results/beside {{arguments}}
    cargo run --release --features {{engines}} -- engines results/beside --keep results/peers --into docs/results/engines.md

# Write the tables in docs/results/engines.md again, from the results in git.
engine-tables *arguments:
    cargo run --release -- engines results/peers --into docs/results/engines.md {{arguments}}

# Fuzz a parser with libFuzzer, such as `just fuzz table 60` (60 seconds). Without arguments, list the targets.
fuzz *arguments:
    .ci/fuzz {{arguments}}

# Run the criterion benchmarks of one crate, such as `just bench bloom`.
bench crate *arguments:
    cargo bench -p lsmbench-{{crate}} -- {{arguments}}

# Write the generated pages of docs/reference again.
docs:
    cargo run --release --quiet -- list --reference docs/reference

# Run the tests under the address sanitizer and the thread sanitizer, with a nightly toolchain.
sanitize *which:
    .ci/sanitize {{which}}

# Compile everything for Linux on AArch64 and macOS. `just platforms emulate` runs unit tests for AArch64 in QEMU.
platforms *what:
    .ci/platforms {{what}}

# Check the lock-free structures in all thread interleavings, and with each memory ordering weakened.
loom:
    cargo test -p lsmbench-interleave -- --nocapture

# Measure the prose of pages, docstrings and literals: words per sentence, free "what", retired words; `--list` shows where.
prose *arguments:
    .ci/prose.py {{arguments}}

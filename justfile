# What there is to do in this repository. `just` alone lists it.

[private]
default:
    @just --list

# Build the program and run the main example.
quickstart:
    cargo run --release -- run configs/quickstart.toml

# Run every test.
test:
    cargo test --workspace

# Everything CI runs.
ci:
    .ci/run

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

# The questions of the README asked again: charts into plots/gallery, what came out into the README.
gallery *arguments:
    cargo run --release -- gallery {{arguments}}

# Look for inputs that break a reader, with libFuzzer, as `just fuzz table 60`; without arguments, name the targets.
fuzz *arguments:
    .ci/fuzz {{arguments}}

# Run the criterion benches of one crate, as `just bench bloom`.
bench crate *arguments:
    cargo bench -p lsmbench-{{crate}} -- {{arguments}}

# Write the generated documentation again: variants and columns.
docs:
    cargo run --release --quiet -- list --markdown > docs/variants.md
    cargo run --release --quiet -- list --columns > docs/results.md

# Our default design beside Fjall, in one interleaved run.
beside-fjall *arguments:
    cargo run --release -p lsmbench-tree --example beside_fjall -- {{arguments}}

# The tests under the address and the thread sanitizer, with a nightly toolchain.
sanitize *which:
    .ci/sanitize {{which}}

# The structures without locks in all their interleavings, and with each of their orderings weakened.
loom:
    cargo test -p lsmbench-interleave -- --nocapture

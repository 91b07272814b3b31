#!/bin/bash -eu
# The targets that must stay silent, with their seeds.
cd "$SRC/surehold"
cargo fuzz build -O
for target in compaction_ops rebalance_ops commit_ops; do
    cp "fuzz/target/x86_64-unknown-linux-gnu/release/$target" "$OUT/"
    (cd "models/fuzz-seeds/$target" && zip -q "$OUT/${target}_seed_corpus.zip" ./*)
done

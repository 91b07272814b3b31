#!/bin/bash -eu
# The targets that must stay silent, with their seeds.
cd "$SRC/surehold"
cargo fuzz build -O
for target in compaction_ops rebalance_ops commit_ops refusals purity collections; do
    cp "fuzz/target/x86_64-unknown-linux-gnu/release/$target" "$OUT/"
    seeds=models/fuzz-seeds/$target
    [ ! -d "$seeds" ] || (cd "$seeds" && zip -q "$OUT/${target}_seed_corpus.zip" ./*)
done

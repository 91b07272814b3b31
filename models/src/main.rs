//! The command `surehold`.

use std::process::ExitCode;

/// Checking is bound by allocation.
#[global_allocator]
static GLOBAL: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    surehold_models::command::run()
}

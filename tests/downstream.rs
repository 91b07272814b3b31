//! Runs the tests of the crate outside the workspace, so that a plain `cargo test` covers them.

use std::path::Path;
use std::process::Command;

/// A target directory of its own: cargo holds a lock on the one that it is running from.
#[test]
fn a_crate_without_default_features_drives_the_roles_to_the_goal() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/downstream/Cargo.toml");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("downstream");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["test", "--quiet", "--locked", "--offline", "--manifest-path"]);
    command.arg(manifest).arg("--target-dir").arg(target);
    let output = command.output().expect("cargo runs");
    assert!(
        output.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

//! What is on a disk is read as it was written, or refused with a clear error.

use std::fs;

use redb::{Database, TableDefinition};
use surehold::runtime::disk::{Disk, DiskError};
use surehold::runtime::durables::Durables as _;

use crate::toy::Kept;

fn kept(life: u32) -> Kept {
    Kept { name: 1, life, numbers: vec![life] }
}

fn load(disk: &mut Disk) -> Result<Option<Kept>, DiskError> {
    disk.load()
}

fn refused(path: &std::path::Path) -> String {
    let opened = Disk::open(path, "toy").and_then(|mut disk| load(&mut disk));
    let error = opened.expect_err("it is refused").to_string();
    error.replace(path.to_str().unwrap(), "FILE")
}

#[test]
fn what_was_saved_last_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("role");
    // What a crash left of the making of a file.
    fs::write(folder.path().join("role.new"), "torn").unwrap();
    let mut disk = Disk::open(&path, "toy").unwrap();
    assert_eq!(load(&mut disk).unwrap(), None);
    disk.save(&kept(1)).unwrap();
    disk.save(&kept(2)).unwrap();
    assert_eq!(load(&mut disk).unwrap(), Some(kept(2)));
    drop(disk);
    assert_eq!(load(&mut Disk::open(&path, "toy").unwrap()).unwrap(), Some(kept(2)));
    let names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["role"]);
}

#[test]
fn a_file_is_open_once_and_for_one_role() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("role");
    let disk = Disk::open(&path, "toy").unwrap();
    assert_eq!(refused(&path), "FILE: another process has it open");
    drop(disk);
    let error = Disk::open(&path, "cleaner").unwrap_err().to_string();
    assert!(error.ends_with("made for the role toy, not for cleaner"), "{error}");
    assert!(Disk::open(&path, "toy").is_ok());
}

#[test]
fn a_foreign_file_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("role");
    for content in ["", "a letter to a friend\n", "redb"] {
        fs::write(&path, content).unwrap();
        assert_eq!(refused(&path), "FILE: not a file of surehold (no database of redb)");
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
    }
}

#[test]
fn the_database_of_another_program_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("role");
    let table: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("recipes");
    let database = Database::builder().create_with_file_format_v3(true).create(&path).unwrap();
    let write = database.begin_write().unwrap();
    write.open_table(table).unwrap().insert("soup", &b"salt"[..]).unwrap();
    write.commit().unwrap();
    drop(database);
    assert_eq!(refused(&path), "FILE: not a file of surehold (another program's tables)");
}

/// A file as this program writes it, with another entry.
fn with(entry: &str, value: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("role");
    drop(Disk::open(&path, "toy").unwrap());
    let table: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("surehold");
    let database = Database::open(&path).unwrap();
    let write = database.begin_write().unwrap();
    write.open_table(table).unwrap().insert(entry, value).unwrap();
    write.commit().unwrap();
    drop(database);
    refused(&path)
}

#[test]
fn another_version_is_refused_and_so_is_nonsense() {
    assert_eq!(with("version", b"2"), "FILE: format 2, and only format 1 is read");
    assert_eq!(with("version", b"\xff"), "FILE: damaged: its version is no text");
    let nonsense = with("durable", b"{\"name\":1}");
    assert!(nonsense.starts_with("FILE: damaged: the durable part: missing field"), "{nonsense}");
}

/// Cut anywhere, a file is refused; never is it taken for a new one.
#[test]
fn a_file_that_was_cut_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("role");
    let mut disk = Disk::open(&path, "toy").unwrap();
    disk.save(&kept(1)).unwrap();
    drop(disk);
    let whole = fs::read(&path).unwrap();
    for part in 0..64 {
        fs::write(&path, &whole[..whole.len() * part / 64]).unwrap();
        let error = refused(&path);
        let clear = error.contains("damaged") || error.contains("not a file of surehold");
        assert!(clear, "{part} of 64: {error}");
    }
}

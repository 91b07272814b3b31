//! What has to survive a crash, in a file.
//!
//! The file is a `redb` database with one table: the version of its format, the role that it was made for, and the
//! value as JSON. A value is written in one transaction of two phases: the file is synced before and after the one
//! byte that makes the new value count. So a crash at any byte leaves the value before or the new one, and a newest
//! value that is damaged is refused: with one phase it could not be told from a write that was torn, and the value
//! before would be taken, with a life that was lived already.
//!
//! A new file is made under another name and renamed, so that it is there whole or not at all.

use std::any::Any;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use redb::{Database, DatabaseError, StorageBackend, TableDefinition, TableError};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::durables::Durables;

/// The format that is written and the only one that is read.
pub const VERSION: &str = "1";

const TABLE: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("surehold");
const CACHE_BYTES: usize = 1 << 20;

/// A file that keeps the durable part of one role.
#[derive(Debug)]
pub struct Disk {
    /// There until this is dropped.
    database: Option<Database>,
    place: PathBuf,
}

/// Closing a file tidies it up. Where it is damaged that may panic, and what was saved is durable without.
impl Drop for Disk {
    fn drop(&mut self) {
        let database = self.database.take();
        let _ = catch_unwind(AssertUnwindSafe(move || drop(database)));
    }
}

/// What is wrong, and with which file.
#[derive(Debug)]
pub struct DiskError {
    /// The file.
    pub place: PathBuf,
    /// What.
    pub fault: Fault,
}

/// What is wrong with a file.
#[derive(Debug)]
pub enum Fault {
    /// It cannot be read or written.
    Io(String),
    /// Another process has it open.
    InUse,
    /// It is not a file of this kind, or it is damaged beyond telling.
    Foreign(String),
    /// It is a file of this kind, and damaged.
    Damaged(String),
    /// It has another format.
    OtherVersion(String),
    /// It was made for another role.
    OtherRole {
        /// The role asked for.
        own: String,
        /// The role that it was made for.
        kept: String,
    },
}

impl fmt::Display for DiskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.place.display();
        match &self.fault {
            Fault::Io(what) => write!(f, "{place}: {what}"),
            Fault::InUse => write!(f, "{place}: another process has it open"),
            Fault::Foreign(what) => write!(f, "{place}: not a file of surehold ({what})"),
            Fault::Damaged(what) => write!(f, "{place}: damaged: {what}"),
            Fault::OtherVersion(version) => {
                write!(f, "{place}: format {version}, and only format {VERSION} is read")
            }
            Fault::OtherRole { own, kept } => {
                write!(f, "{place}: made for the role {kept}, not for {own}")
            }
        }
    }
}

impl std::error::Error for DiskError {}

impl Disk {
    /// Opens the file at `path`, or makes it, for the role of this name.
    ///
    /// # Errors
    ///
    /// [`Fault`]: a file that is there is never written over, whatever is in it.
    pub fn open(path: &Path, role: &str) -> Result<Self, DiskError> {
        let at = |fault| DiskError { place: path.to_owned(), fault };
        let io = |error: io::Error| at(Fault::Io(error.to_string()));
        if !fs::exists(path).map_err(io)? {
            let new = beside(path);
            if let Err(error) = fs::remove_file(&new)
                && error.kind() != io::ErrorKind::NotFound
            {
                return Err(io(error));
            }
            drop(Self::guarded(&new, role, |builder| builder.create(&new))?);
            File::open(&new).and_then(|file| file.sync_all()).map_err(io)?;
            fs::rename(&new, path).map_err(io)?;
            sync_folder(path).map_err(io)?;
        }
        Self::guarded(path, role, |builder| builder.open(path))
    }

    /// As [`Disk::open`], on other storage than a file: empty, or as it was left by a crash.
    ///
    /// # Errors
    ///
    /// [`Fault`].
    pub fn on(storage: impl StorageBackend, role: &str) -> Result<Self, DiskError> {
        Self::guarded(Path::new("storage"), role, |builder| builder.create_with_backend(storage))
    }

    /// `redb` holds some of what it reads to be true and panics if it is not; to us it is a damaged file.
    fn guarded(
        place: &Path,
        role: &str,
        open: impl FnOnce(&mut redb::Builder) -> Result<Database, DatabaseError>,
    ) -> Result<Self, DiskError> {
        let at = |fault| DiskError { place: place.to_owned(), fault };
        let opened = catch_unwind(AssertUnwindSafe(|| {
            let mut builder = Database::builder();
            let database =
                open(builder.set_cache_size(CACHE_BYTES).create_with_file_format_v3(true))
                    .map_err(not_opened)?;
            whole(database, role)
        }));
        let database = opened.map_err(|panic| at(Fault::Damaged(said(&*panic))))?.map_err(at)?;
        Ok(Self { database: Some(database), place: place.to_owned() })
    }

    /// Does something with the open file.
    fn with<T>(&self, act: impl FnOnce(&Database) -> Result<T, Fault>) -> Result<T, DiskError> {
        let done = self.database.as_ref().map(|open| catch_unwind(AssertUnwindSafe(|| act(open))));
        let done = match done {
            Some(Ok(done)) => done,
            Some(Err(panic)) => Err(Fault::Damaged(said(&*panic))),
            None => Err(Fault::Io("it is closed".into())),
        };
        done.map_err(|fault| DiskError { place: self.place.clone(), fault })
    }
}

fn read(database: &Database) -> Result<Option<Vec<u8>>, Fault> {
    let read = database.begin_read().map_err(damaged)?;
    let table = read.open_table(TABLE).map_err(damaged)?;
    let value = table.get("durable").map_err(damaged)?;
    Ok(value.map(|bytes| bytes.value().to_vec()))
}

impl<D: Serialize + DeserializeOwned> Durables<D> for Disk {
    type Error = DiskError;

    fn load(&mut self) -> Result<Option<D>, DiskError> {
        self.with(|database| {
            let value = read(database)?.map(|bytes| serde_json::from_slice(&bytes)).transpose();
            value.map_err(|error| Fault::Damaged(format!("the durable part: {error}")))
        })
    }

    fn save(&mut self, durable: &D) -> Result<(), DiskError> {
        self.with(|database| {
            let bytes = serde_json::to_vec(durable);
            let bytes = bytes.map_err(|error| Fault::Io(format!("the durable part: {error}")))?;
            write(database, &[("durable", &bytes)])
        })
    }
}

/// One transaction.
fn write(database: &Database, entries: &[(&str, &[u8])]) -> Result<(), Fault> {
    let failed = |error: &dyn fmt::Display| Fault::Io(error.to_string());
    let mut write = database.begin_write().map_err(|error| failed(&error))?;
    write.set_two_phase_commit(true);
    {
        let mut table = write.open_table(TABLE).map_err(|error| failed(&error))?;
        for (key, value) in entries {
            table.insert(key, value).map_err(|error| failed(&error))?;
        }
    }
    write.commit().map_err(|error| failed(&error))
}

/// Looks through all of a file that has been opened, and writes what a new one begins with.
fn whole(mut database: Database, role: &str) -> Result<Database, Fault> {
    if !database.check_integrity().map_err(damaged)? {
        return Err(Fault::Damaged("a checksum does not fit".into()));
    }
    match heading(&database)? {
        None => write(&database, &[("version", VERSION.as_bytes()), ("role", role.as_bytes())])?,
        Some((version, _)) if version != VERSION => return Err(Fault::OtherVersion(version)),
        Some((_, kept)) if kept != role => {
            return Err(Fault::OtherRole { own: role.to_owned(), kept });
        }
        Some(_) => {}
    }
    Ok(database)
}

/// Version and role, unless the file is new.
fn heading(database: &Database) -> Result<Option<(String, String)>, Fault> {
    let read = database.begin_read().map_err(damaged)?;
    let table = match read.open_table(TABLE) {
        Ok(table) => table,
        Err(TableError::TableDoesNotExist(_)) => {
            let others = read.list_tables().map_err(damaged)?.count();
            let foreign = Fault::Foreign("another program's tables".into());
            return if others == 0 { Ok(None) } else { Err(foreign) };
        }
        Err(error) => return Err(Fault::Foreign(error.to_string())),
    };
    let text = |key| {
        let value = table.get(key).map_err(damaged)?;
        let value = value.ok_or_else(|| Fault::Foreign(format!("it has no {key}")))?;
        let text = String::from_utf8(value.value().to_vec());
        text.map_err(|_| Fault::Damaged(format!("its {key} is no text")))
    };
    Ok(Some((text("version")?, text("role")?)))
}

fn not_opened(error: DatabaseError) -> Fault {
    match error {
        DatabaseError::DatabaseAlreadyOpen => Fault::InUse,
        DatabaseError::Storage(redb::StorageError::Io(error)) => match error.kind() {
            io::ErrorKind::InvalidData => Fault::Foreign("no database of redb".into()),
            io::ErrorKind::UnexpectedEof => Fault::Damaged("it ends too early".into()),
            _ => Fault::Io(error.to_string()),
        },
        DatabaseError::UpgradeRequired(format) => Fault::Foreign(format!("redb format {format}")),
        error => Fault::Damaged(error.to_string()),
    }
}

fn damaged(error: impl fmt::Display) -> Fault {
    Fault::Damaged(error.to_string())
}

fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("unreadable").to_owned()
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    path.with_file_name(name)
}

/// A rename is durable once its folder is.
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or_else(|| Path::new(".")))?.sync_all()
}

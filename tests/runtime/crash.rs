//! A crash at every byte of a durable write leaves the value before or the value after.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex};

use redb::StorageBackend;
use surehold::runtime::disk::{Disk, Fault};
use surehold::runtime::durables::Durables as _;

use crate::toy::Kept;

/// A storage that remembers what was done to it, and whose power goes after so many bytes and other changes: of the
/// write under way the bytes before are there, the rest is not, and nothing works from then on.
#[derive(Clone, Debug)]
struct Storage(Arc<Mutex<Image>>);

#[derive(Debug, Default)]
struct Image {
    bytes: Vec<u8>,
    done: Vec<Change>,
    left: Option<usize>,
}

#[derive(Clone, Debug)]
enum Change {
    Length(usize),
    Bytes(usize, Vec<u8>),
    Sync,
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Length(length) => bytes.resize(*length, 0),
            Self::Bytes(at, data) => {
                bytes.resize(bytes.len().max(at + data.len()), 0);
                bytes[*at..at + data.len()].copy_from_slice(data);
            }
            Self::Sync => {}
        }
    }

    /// Whether the storage is like this already.
    fn is_done(&self, bytes: &[u8]) -> bool {
        match self {
            Self::Length(length) => bytes.len() == *length,
            Self::Bytes(at, data) => bytes.get(*at..at + data.len()) == Some(data),
            Self::Sync => true,
        }
    }

    /// The page of the file that it writes, if it is one.
    fn page(&self) -> Option<usize> {
        match self {
            Self::Bytes(at, data) if data.len() <= 4096 => Some(at / 4096),
            Self::Bytes(..) | Self::Length(_) | Self::Sync => None,
        }
    }

    /// The change as a crash within it leaves it: each number of bytes, or the whole of it.
    fn parts(&self) -> Vec<Self> {
        match self {
            Self::Length(_) | Self::Sync => vec![self.clone()],
            Self::Bytes(at, data) => {
                let byte = |(i, byte): (usize, &u8)| Self::Bytes(at + i, vec![*byte]);
                data.iter().enumerate().map(byte).collect()
            }
        }
    }
}

fn power_is_off() -> io::Error {
    io::Error::other("the power is off")
}

impl Image {
    /// How much of `wanted` still goes through.
    fn spend(&mut self, wanted: usize) -> usize {
        let granted = self.left.map_or(wanted, |left| left.min(wanted));
        self.left = self.left.map(|left| left - granted);
        granted
    }

    fn change(&mut self, change: Change) -> io::Result<()> {
        let wanted = if let Change::Bytes(_, data) = &change { data.len() } else { 1 };
        let granted = self.spend(wanted);
        let change = match change {
            Change::Bytes(at, data) => Change::Bytes(at, data[..granted].to_vec()),
            whole if granted == wanted => whole,
            _ => return Err(power_is_off()),
        };
        change.apply(&mut self.bytes);
        self.done.push(change);
        if granted == wanted { Ok(()) } else { Err(power_is_off()) }
    }
}

impl Storage {
    fn new(bytes: Vec<u8>, left: Option<usize>) -> Self {
        Self(Arc::new(Mutex::new(Image { bytes, done: Vec::new(), left })))
    }

    fn take(&self) -> Image {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl StorageBackend for Storage {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.lock().unwrap().bytes.len() as u64)
    }

    fn read(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        let image = self.0.lock().unwrap();
        let at = offset as usize;
        image.bytes.get(at..at + len).map(<[u8]>::to_vec).ok_or(io::ErrorKind::UnexpectedEof.into())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.lock().unwrap().change(Change::Length(len as usize))
    }

    fn sync_data(&self, _eventual: bool) -> io::Result<()> {
        self.0.lock().unwrap().change(Change::Sync)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.lock().unwrap().change(Change::Bytes(offset as usize, data.to_vec()))
    }
}

fn kept(life: u32) -> Kept {
    Kept { name: 1, life, numbers: (0..life).collect() }
}

/// What a file looks like in which some lives were saved.
fn saved(lives: std::ops::RangeInclusive<u32>) -> Vec<u8> {
    let storage = Storage::new(Vec::new(), None);
    let mut disk = Disk::on(storage.clone(), "toy").unwrap();
    for life in lives {
        disk.save(&kept(life)).unwrap();
    }
    drop(disk);
    storage.take().bytes
}

/// Opens what lives 1 to 3 left, saves life 4 and closes: everything that was done to the storage, and how much of
/// it when the save was confirmed.
fn one_save(before: &[u8]) -> (Vec<Change>, usize) {
    let storage = Storage::new(before.to_vec(), None);
    let mut disk = Disk::on(storage.clone(), "toy").unwrap();
    disk.save(&kept(4)).unwrap();
    let confirmed = storage.0.lock().unwrap().done.len();
    drop(disk);
    (storage.take().done, confirmed)
}

fn reopened(bytes: Vec<u8>) -> Kept {
    let mut disk = Disk::on(Storage::new(bytes, None), "toy").expect("what a crash left is read");
    disk.load().expect("what a crash left is whole").expect("something was saved")
}

fn is_right(found: &Kept, is_confirmed: bool) -> bool {
    *found == kept(4) || (!is_confirmed && *found == kept(3))
}

/// The power goes after each byte of the write, and after one in 64 while the file is closed, when whole regions are
/// written. A byte that is written over by the same leaves the file as it was, which is looked at once. Unless
/// `SUREHOLD_ALL` is set, one byte in 16 is looked at, and each of the headers.
#[test]
fn a_crash_at_every_byte_leaves_the_value_before_or_after() {
    let mut bytes = saved(1..=3);
    let (done, confirmed) = one_save(&bytes);
    let is_thorough = std::env::var_os("SUREHOLD_ALL").is_some();
    let (mut all, mut lives) = (0, Vec::new());
    let mut images = 0;
    for (at, change) in done.iter().enumerate() {
        let parts = change.parts();
        for (i, part) in parts.iter().enumerate() {
            all += 1;
            if part.is_done(&bytes) {
                continue;
            }
            part.apply(&mut bytes);
            let is_header = parts.len() <= 320;
            let one_in = match (is_header, at < confirmed) {
                (true, _) => 1,
                (false, true) => {
                    if is_thorough {
                        1
                    } else {
                        16
                    }
                }
                (false, false) => parts.len() / 64,
            };
            if i % one_in > 0 {
                continue;
            }
            images += 1;
            let found = reopened(bytes.clone());
            let is_confirmed = at >= confirmed;
            assert!(is_right(&found, is_confirmed), "change {at}, byte {i}: {found:?}");
            lives.push(found.life);
        }
    }
    println!(
        "{all} places, {images} files, {} with the value before",
        lives.partition_point(|l| *l == 3)
    );
    assert!(lives.is_sorted() && lives.first() == Some(&3) && lives.last() == Some(&4));
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }
}

/// Applies what was done up to a crash. What was not synced may be there or not, write by write, and torn.
fn crashed(before: &[u8], done: &[Change], random: &mut Random) -> Vec<u8> {
    let synced = done.iter().rposition(|change| matches!(change, Change::Sync)).unwrap_or(0);
    let mut bytes = before.to_vec();
    done[..synced].iter().for_each(|change| change.apply(&mut bytes));
    for change in &done[synced..] {
        let Change::Bytes(at, data) = change else {
            change.apply(&mut bytes);
            continue;
        };
        let there = match random.below(3) {
            0 => 0,
            1 => data.len(),
            _ => random.below(data.len()),
        };
        Change::Bytes(*at, data[..there].to_vec()).apply(&mut bytes);
    }
    bytes
}

/// Writes that were not synced are lost or torn in any combination; and so are those of the recovery from that.
#[test]
fn a_crash_that_loses_any_unsynced_writes_leaves_the_value_before_or_after() {
    let before = saved(1..=3);
    let (done, confirmed) = one_save(&before);
    let mut random = Random(1);
    for _ in 0..500 {
        let until = random.below(done.len() + 1);
        let bytes = crashed(&before, &done[..until], &mut random);
        let storage = Storage::new(bytes.clone(), Some(random.below(20_000)));
        let _ = Disk::on(storage.clone(), "toy");
        let bytes = crashed(&bytes, &storage.take().done, &mut random);
        let found = reopened(bytes);
        assert!(is_right(&found, until > confirmed), "after {until} changes: {found:?}");
    }
}

/// A byte that changed later is noticed, or was of no matter: never is an older value taken for the newest.
#[test]
fn a_changed_byte_never_brings_back_an_older_value() {
    let storage = Storage::new(saved(1..=3), None);
    let mut disk = Disk::on(storage.clone(), "toy").unwrap();
    disk.save(&kept(4)).unwrap();
    // Not closed: as a crash leaves it.
    let (crashed, done) = {
        let image = storage.0.lock().unwrap();
        (image.bytes.clone(), image.done.clone())
    };
    drop(disk);
    let pages: BTreeSet<_> = done.iter().filter_map(Change::page).collect();
    let is_used = |at: usize| at < 512 || (at.is_multiple_of(13) && pages.contains(&(at / 4096)));
    let mut refused = 0;
    let (mut looked, mut random) = (0, Random(2));
    for image in [crashed, storage.take().bytes] {
        for at in (0..image.len()).filter(|at| is_used(*at)) {
            let mut bytes = image.clone();
            bytes[at] ^= 1 << random.below(8);
            looked += 1;
            match Disk::on(Storage::new(bytes, None), "toy").and_then(|mut disk| disk.load()) {
                Ok(found) => assert_eq!(found, Some(kept(4)), "byte {at}"),
                Err(error) => {
                    let is_clear = !matches!(error.fault, Fault::Io(_) | Fault::InUse);
                    assert!(is_clear, "byte {at}: {error}");
                    refused += 1;
                }
            }
        }
    }
    println!("{refused} of {looked} changed bytes were refused");
    assert!(refused > 0, "{refused} of {looked}");
}

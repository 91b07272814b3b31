//! The names of consumed segments: `<table>__<partition>__<sequence>__<yyyyMMdd'T'HHmm'Z'>` (dossier 2).

use core::cmp::Ordering;
use core::fmt;
use core::str::FromStr;
use std::sync::Arc;

use super::object::{PartitionId, SegmentId};

const SEPARATOR: &str = "__";
const MINUTE_MS: u64 = 60_000;
const MINUTES_A_DAY: u32 = 24 * 60;
/// 10000-01-01T00:00Z: the first minute that four digits of a year cannot name.
const FIRST_UNNAMED_MINUTE: u64 = 2_932_897 * MINUTES_A_DAY as u64;

/// The name of a segment.
///
/// Two segments of one partition and sequence, created in different minutes, are two: they are not equal, though
/// [`SegmentName::compare`] puts neither before the other (C8).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SegmentName {
    table: Arc<str>,
    partition: u32,
    sequence: u32,
    minute: u32,
}

/// Why there is no such name, or no order between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NameError {
    /// It has not four parts, but this many.
    Parts(usize),
    /// The table's name is empty, contains the separator or ends in half of it: the segment's name could not be
    /// taken apart.
    Table,
    /// The partition is no decimal number below 2^32, written without needless zeros.
    Partition,
    /// The same of the sequence.
    Sequence,
    /// The time is no minute of the years 1970 to 9999.
    Time,
    /// The two are of different tables.
    OtherTable,
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parts(parts) => write!(f, "a segment's name has four parts, this one {parts}"),
            Self::Table => f.write_str("a segment's name cannot be made of this table's"),
            Self::Partition => f.write_str("the partition is not a number"),
            Self::Sequence => f.write_str("the sequence is not a number"),
            Self::Time => f.write_str("the time is no minute of the years 1970 to 9999"),
            Self::OtherTable => f.write_str("segments of different tables have no order"),
        }
    }
}

impl std::error::Error for NameError {}

impl SegmentName {
    /// The name of a segment that is created at `time_ms`, ms since the epoch, rounded down to the minute.
    ///
    /// # Errors
    ///
    /// [`NameError::Table`], [`NameError::Time`].
    pub fn new(
        table: &str,
        partition: u32,
        sequence: u32,
        time_ms: u64,
    ) -> Result<Self, NameError> {
        if table.is_empty() || table.contains(SEPARATOR) || table.ends_with('_') {
            return Err(NameError::Table);
        }
        let minute = time_ms / MINUTE_MS;
        if minute >= FIRST_UNNAMED_MINUTE {
            return Err(NameError::Time);
        }
        let minute = u32::try_from(minute).map_err(|_| NameError::Time)?;
        Ok(Self { table: table.into(), partition, sequence, minute })
    }

    /// Whether a text has the form of such a name, as upstream looks: it counts separators, and no more.
    #[must_use]
    pub fn looks_like_one(text: &str) -> bool {
        text.matches(SEPARATOR).count() == 3
    }

    /// The table, without its type.
    #[must_use]
    pub fn table(&self) -> &str {
        &self.table
    }

    /// The partition, by Pinot's number (of several streams: stream * 10,000 + the stream's own).
    #[must_use]
    pub fn partition(&self) -> u32 {
        self.partition
    }

    /// Its place in the partition's chain, from 0.
    #[must_use]
    pub fn sequence(&self) -> u32 {
        self.sequence
    }

    /// When it was created, in minutes since the epoch.
    #[must_use]
    pub fn minute(&self) -> u32 {
        self.minute
    }

    /// The segment among those of its table. `None` if its partition is none of the first 2^16.
    #[must_use]
    pub fn id(&self) -> Option<SegmentId> {
        let partition = PartitionId(u16::try_from(self.partition).ok()?);
        Some(SegmentId { partition, sequence: self.sequence, minute: self.minute })
    }

    /// When it was created, ms since the epoch: a whole minute.
    #[must_use]
    pub fn created_ms(&self) -> u64 {
        u64::from(self.minute) * MINUTE_MS
    }

    /// When it was created, as the name has it.
    #[must_use]
    pub fn creation_text(&self) -> String {
        let (year, month, day) = civil(self.minute / MINUTES_A_DAY);
        let of_day = self.minute % MINUTES_A_DAY;
        format!("{year:04}{month:02}{day:02}T{:02}{:02}Z", of_day / 60, of_day % 60)
    }

    /// The order within a table: by partition, then by sequence. The time is not compared.
    ///
    /// # Errors
    ///
    /// [`NameError::OtherTable`].
    pub fn compare(&self, other: &Self) -> Result<Ordering, NameError> {
        if self.table != other.table {
            return Err(NameError::OtherTable);
        }
        Ok((self.partition, self.sequence).cmp(&(other.partition, other.sequence)))
    }
}

impl fmt::Display for SegmentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { table, partition, sequence, .. } = self;
        write!(f, "{table}__{partition}__{sequence}__{}", self.creation_text())
    }
}

impl FromStr for SegmentName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let parts: Vec<_> = text.split(SEPARATOR).collect();
        let [table, partition, sequence, time] = parts[..] else {
            return Err(NameError::Parts(parts.len()));
        };
        let partition = number(partition).ok_or(NameError::Partition)?;
        let sequence = number(sequence).ok_or(NameError::Sequence)?;
        let minute = minute(time).ok_or(NameError::Time)?;
        Self::new(table, partition, sequence, u64::from(minute) * MINUTE_MS)
    }
}

/// A number as [`SegmentName`] prints it: a name is read only if it is the one that would be written.
fn number(text: &str) -> Option<u32> {
    let number = digits(text)?;
    (text == "0" || !text.starts_with('0')).then_some(number)
}

fn digits(text: &str) -> Option<u32> {
    let all = text.bytes().all(|byte| byte.is_ascii_digit());
    if all { text.parse().ok() } else { None }
}

/// The minute since the epoch that a text of the form `yyyyMMdd'T'HHmm'Z'` names.
fn minute(text: &str) -> Option<u32> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    if date.len() != 8 || time.len() != 4 {
        return None;
    }
    let (date, time) = (digits(date)?, digits(time)?);
    let (year, month, day) = (date / 10_000, date / 100 % 100, date % 100);
    let (hour, minute) = (time / 100, time % 100);
    if hour > 23 || minute > 59 {
        return None;
    }
    let days = days(year, month, day)?;
    Some(days * MINUTES_A_DAY + hour * 60 + minute)
}

/// Days since the epoch; nothing for a day that does not exist or lies before.
fn days(year: u32, month: u32, day: u32) -> Option<u32> {
    if year < 1970 || day == 0 || day > days_of_month(year, month)? {
        return None;
    }
    let before: u32 = (1..month).filter_map(|month| days_of_month(year, month)).sum();
    Some(days_before_year(year) - days_before_year(1970) + before + day - 1)
}

/// The day that is this many days after the epoch.
fn civil(days: u32) -> (u32, u32, u32) {
    let mut rest = days + days_before_year(1970);
    // A year has at least 365 days: this is never too small, and too large by a few.
    let mut year = rest / 365 + 1;
    while days_before_year(year) > rest {
        year -= 1;
    }
    rest -= days_before_year(year);
    let mut month = 1;
    while let Some(length) = days_of_month(year, month).filter(|length| *length <= rest) {
        rest -= length;
        month += 1;
    }
    (year, month, rest + 1)
}

/// Days from the first of January of year 1 to that of this year, from year 1.
fn days_before_year(year: u32) -> u32 {
    let past = year - 1;
    past * 365 + past / 4 - past / 100 + past / 400
}

fn days_of_month(year: u32, month: u32) -> Option<u32> {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if leap => Some(29),
        2 => Some(28),
        4 | 6 | 9 | 11 => Some(30),
        1 | 3 | 5 | 7 | 8 | 10 | 12 => Some(31),
        _ => None,
    }
}

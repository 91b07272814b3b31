//! Durations and sizes as they are written on the command line.

use std::time::Duration;

const DURATIONS: [(&str, u64); 4] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];

const SIZES: [(&str, u64); 10] = [
    ("", 1),
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

/// A duration: a whole number and its unit, `500ms`, `90s`, `5m` or `1h`. A number without a unit is
/// refused, as nobody agrees on which one it is.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    scaled(text, &DURATIONS).map(Duration::from_millis)
}

/// A number of bytes: `16GiB`, `500MiB`, `2GB`, or a plain number. Upper and lower case are the same.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    scaled(text, &SIZES)
}

fn scaled(text: &str, units: &[(&str, u64)]) -> Result<u64, String> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number: u64 = match number.parse() {
        Ok(number) => number,
        Err(_) if number.is_empty() => return Err("it must begin with a whole number".into()),
        Err(_) => return Err("it is too great".into()),
    };
    let unit = unit.trim_start();
    match units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)) {
        Some((_, scale)) => number.checked_mul(*scale).ok_or_else(|| "it is too great".into()),
        None => {
            let known: Vec<_> = units.iter().map(|(name, _)| *name).collect();
            Err(format!("its unit must be one of {}", known.join(" ").trim_start()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("5m"), Ok(Duration::from_secs(300)));
        assert_eq!(duration("1h"), Ok(Duration::from_secs(3600)));
        assert_eq!(duration("0s"), Ok(Duration::ZERO));
        for refused in ["", "s", "90", "-1s", "1.5h", "1d", "1h30m", "5 minutes", "s5"] {
            assert!(duration(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn sizes_may_be_plain() {
        assert_eq!(bytes("4096"), Ok(4096));
        assert_eq!(bytes("16GiB"), Ok(16 << 30));
        assert_eq!(bytes("500MiB"), Ok(500 << 20));
        assert_eq!(bytes("2GB"), Ok(2_000_000_000));
        assert_eq!(bytes("2gb"), Ok(2_000_000_000));
        assert_eq!(bytes("2 GB"), Ok(2_000_000_000));
        for refused in ["", "GiB", "1.5GiB", "-1", "1G", "1XiB", "0x10"] {
            assert!(bytes(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(bytes("18446744073709551615").is_ok());
        assert!(bytes("18446744073709551616").is_err());
        assert!(bytes("16777216TiB").is_err());
        assert!(duration("99999999999999999h").is_err());
    }

    #[test]
    fn a_refusal_names_the_known_units() {
        assert_eq!(duration("1d"), Err("its unit must be one of ms s m h".into()));
        assert!(bytes("1G").is_err_and(|text| text.contains("GiB")));
    }
}

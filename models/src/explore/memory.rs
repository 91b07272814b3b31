//! How much memory the process holds, and growth that does not waste it.

/// Greatest resident set that this process has had, in bytes, or [`None`] where the system does not tell.
pub(crate) fn peak_resident_bytes() -> Option<u64> {
    parse(&std::fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// Bytes of the resident set of this process, or [`None`] where the system does not tell.
///
/// Read from `VmRSS` of `/proc/self/status`, which counts in kibibytes: `/proc/self/statm` counts in pages, whose size is
/// not to be had without a system call.
pub(super) fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    parse(&status, "VmRSS:")
}

fn parse(status: &str, key: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// Appends, growing a full vector by a quarter and not twofold: a table of many millions of entries should not hold as
/// much again in reserve.
pub(super) fn push_gently<T>(items: &mut Vec<T>, item: T) {
    if items.len() == items.capacity() {
        items.reserve_exact((items.len() / 4).max(1024));
    }
    items.push(item);
}

/// Bytes that the vector has allocated, not counting what its items own elsewhere.
pub(super) fn vec_bytes<T>(items: &Vec<T>) -> u64 {
    (items.capacity() * size_of::<T>()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_kibibytes_as_bytes() {
        let status = "Name:\tx\nVmRSS:\t    2048 kB\nThreads:\t1\n";
        assert_eq!(parse(status, "VmRSS:"), Some(2 * 1024 * 1024));
        assert_eq!(parse(status, "VmHWM:"), None);
        assert_eq!(parse("Name:\tx\n", "VmRSS:"), None);
        assert_eq!(parse("VmRSS:\tmuch\n", "VmRSS:"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn resident_set_follows_what_is_touched() {
        let before = resident_bytes().expect("Linux tells");
        let touched = vec![1_u8; 64 << 20];
        let after = resident_bytes().expect("Linux tells");
        assert_eq!(touched.iter().map(|&byte| u64::from(byte)).sum::<u64>(), 64 << 20);
        assert!(after >= before + (32 << 20), "{before} then {after}");
    }
}

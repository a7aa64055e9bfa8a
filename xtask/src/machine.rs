//! What a record says of the machine that made it.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

/// Processor, caches, memory, system, compiler, revision and load. What the system does not tell is
/// null.
pub(crate) fn describe(root: &Path) -> Value {
    let caches: Vec<String> = (0..8)
        .filter_map(|index| {
            let folder = format!("/sys/devices/system/cpu/cpu0/cache/index{index}");
            let read = |name: &str| fs::read_to_string(format!("{folder}/{name}")).ok();
            Some(format!("L{} {} {}", read("level")?.trim(), read("type")?.trim(), read("size")?.trim()))
        })
        .collect();
    json!({
        "processor": field("/proc/cpuinfo", "model name"),
        "processor_family": field("/proc/cpuinfo", "cpu family"),
        "processor_model": field("/proc/cpuinfo", "model"),
        "cpus": std::thread::available_parallelism().map_or(0, usize::from),
        "caches": caches,
        "memory": field("/proc/meminfo", "MemTotal"),
        "hypervisor": fs::read_to_string("/proc/cpuinfo").ok().map(|text| text.contains(" hypervisor")),
        "system": format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        "kernel": output(root, "uname", &["-sr"]),
        "rustc": output(root, "rustc", &["--version"]),
        "revision": output(root, "git", &["rev-parse", "HEAD"]),
        "uncommitted_changes": output(root, "git", &["status", "--porcelain"]).map(|text| !text.is_empty()),
        "load_before": load(),
    })
}

/// Processes that wanted a processor in the last minute, on average.
pub(crate) fn load() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

fn field(file: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.split(':').next().is_some_and(|field| field.trim() == name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// The first thing that a program says, or nothing if it is not there.
pub(crate) fn output(root: &Path, program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).current_dir(root).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Today in the form YYYY-MM-DD, in universal time.
pub(crate) fn today() -> String {
    let seconds = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |time| time.as_secs());
    date(seconds / 86_400)
}

/// The date of a day since 1970-01-01: years of 365 days and leap days, counted off.
fn date(mut days: u64) -> String {
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let mut month = 1;
    for length in [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year:04}-{month:02}-{:02}", days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_dates() {
        for (days, expected) in [
            (0, "1970-01-01"),
            (58, "1970-02-28"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (19_782, "2024-02-29"),
            (20_454, "2026-01-01"),
            (20_787, "2026-11-30"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
        ] {
            assert_eq!(date(days), expected);
        }
    }
}

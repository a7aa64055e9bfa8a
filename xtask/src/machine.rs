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
    jiff::Timestamp::now().strftime("%Y-%m-%d").to_string()
}

//! Whatever ends the command, no file is half written.
#![cfg(unix)]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::{printed, run, text};

const OLD: &str = "what stood here before";

fn binary() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_shardlab"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn chart(folder: &Path, keys: &str) -> Command {
    let mut command = binary();
    command.args(["compare", "--timing", "off", "--nodes", "300", "--scheme", "rendezvous", "--synthetic", keys]);
    command.arg("--chart").arg(folder.join("load.svg"));
    command
}

/// The names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn a_command_that_is_ended_leaves_the_old_file_or_the_whole_new_one() {
    let whole = {
        let folder = tempfile::tempdir().unwrap();
        let start = std::time::Instant::now();
        assert!(chart(folder.path(), "random:2000").status().unwrap().success());
        (std::fs::read_to_string(folder.path().join("load.svg")).unwrap(), start.elapsed())
    };
    for signal in ["INT", "TERM", "HUP", "KILL"] {
        // From the first moments to the end of the run, so that some fall into the writing.
        for tenth in 0..=12_u32 {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("load.svg");
            std::fs::write(&file, OLD).unwrap();
            let mut child = chart(folder.path(), "random:2000").spawn().unwrap();
            std::thread::sleep(whole.1 * tenth / 10);
            let id = child.id().to_string();
            // It may be over already.
            let _ = Command::new("kill").args(["-s", signal, &id]).stderr(Stdio::null()).status().unwrap();
            child.wait().unwrap();
            let found = std::fs::read_to_string(&file).unwrap();
            assert!(found == OLD || found == whole.0, "{signal} after {tenth} tenths left {} bytes", found.len());
            if signal != "KILL" {
                assert_eq!(names(folder.path()), ["load.svg"], "{signal} after {tenth} tenths");
            }
        }
    }
}

#[test]
fn a_long_run_that_is_interrupted_ends_at_once_and_leaves_nothing() {
    for signal in ["INT", "TERM", "KILL"] {
        let folder = tempfile::tempdir().unwrap();
        let mut child = chart(folder.path(), "random:100000000").spawn().unwrap();
        std::thread::sleep(Duration::from_millis(300));
        assert!(child.try_wait().unwrap().is_none(), "it has minutes to do");
        Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap();
        assert!(!child.wait().unwrap().success());
        assert!(names(folder.path()).is_empty(), "{signal}");
    }
    let study = ["what-if", "jump:nodes=1000", "modulo:nodes=1000", "--synthetic", "random:100000000"];
    let mut child = binary().args(study).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(200));
    child.kill().unwrap();
    assert!(!child.wait().unwrap().success());
}

#[test]
fn a_full_disk_is_said_and_not_passed_over() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let plan = crate::common::file("p.toml", "start = \"ring:nodes=3\"\n[[step]]\ngrow_to = 4\n");
    let plan = plan.path.to_str().unwrap();
    for line in [
        "what-if ring:nodes=3 --grow-to 4 --synthetic random:1000",
        "what-if ring:nodes=3 --grow-to 4 --synthetic random:1000 --format json",
        "what-if jump:nodes=3 --remove 1 --synthetic random:1000 --format csv",
        "what-if ring:nodes=3 --remove-each --synthetic random:1000",
        "route --scheme jump:nodes=3 --synthetic uuid4:1000 --format ndjson",
        "compare --timing off --synthetic random:1000",
        &format!("plan {plan} --synthetic random:1000 --format json"),
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = binary().args(line.split(' ')).stdout(full).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(text(&output.stderr).contains("error: cannot write"), "{line}: {}", text(&output.stderr));
    }
}

#[test]
fn a_place_where_nothing_can_be_written_is_said_with_its_name() {
    // Not even root can make a file there.
    let output = run("compare --timing off --synthetic random:1000 --chart /proc/load.svg");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("cannot write \"/proc/load.svg\""), "{}", text(&output.stderr));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("load.svg");
    std::fs::write(&file, OLD).unwrap();
    printed(&run(&format!("compare --timing off --synthetic random:1000 --chart {}", file.display())));
    assert!(std::fs::read_to_string(&file).unwrap().ends_with("</svg>\n"), "an old file gives way to a whole one");
    assert_eq!(names(folder.path()), ["load.svg"]);
}

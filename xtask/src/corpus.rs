//! A real key set at scale, for benches and studies. No test depends on it.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};

const PACKAGE: &str = "all-the-package-names";
const VERSION: &str = "2.0.2578";
const NAMES: usize = 4_499_322;

pub(crate) fn run(root: &Path) -> anyhow::Result<()> {
    let folder = root.join("target/corpus");
    let lines = folder.join("npm-names.txt");
    if lines.exists() {
        println!("{}", lines.display());
        return Ok(());
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    call(Command::new("npm").args(["pack", "--silent", &format!("{PACKAGE}@{VERSION}")]).current_dir(&folder))?;
    let archive = format!("{PACKAGE}-{VERSION}.tgz");
    call(Command::new("tar").args(["-xzf", &archive, "package/names.json"]).current_dir(&folder))?;
    let json = folder.join("package/names.json");
    let text = fs::read_to_string(&json).with_context(|| format!("cannot read {}", json.display()))?;
    let names: Vec<String> = serde_json::from_str(&text).context("names.json is not a list of names")?;
    ensure!(names.len() == NAMES, "{} names in place of {NAMES}", names.len());
    // Under another name first, so that an interrupted run leaves no short file behind.
    let part = folder.join("npm-names.part");
    let mut out = BufWriter::new(fs::File::create(&part)?);
    for name in &names {
        writeln!(out, "{name}")?;
    }
    out.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?;
    fs::rename(&part, &lines)?;
    fs::remove_file(folder.join(archive))?;
    fs::remove_dir_all(folder.join("package"))?;
    println!("{}", lines.display());
    Ok(())
}

fn call(command: &mut Command) -> anyhow::Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("cannot run {name}; is it installed?"))?;
    ensure!(status.success(), "{name} failed");
    Ok(())
}

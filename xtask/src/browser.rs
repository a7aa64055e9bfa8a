//! Opens pages in a real browser and checks what only a browser knows: `browser/check.mjs` says what.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};

use crate::{machine, process};

/// What drives the browser, with its lock file.
const FILES: [&str; 3] = ["package.json", "package-lock.json", "check.mjs"];

/// A page that `shardlab review` wrote; `cargo xtask report --check` holds it to that.
const REVIEW: &str = "reports/review/review.html";

/// Names under which systems install the browser.
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The page; without one a sample of everything that a page can hold, and the stored review
    page: Option<PathBuf>,
    /// Where Chromium, node or npm is missing, say so and succeed
    #[arg(long)]
    where_possible: bool,
}

/// Checks a page, or the sample of every kind of block and a review. Where something is missing that the check needs,
/// that is an error, unless the check is only wanted where it can be done.
pub(crate) fn run(root: &Path, args: &Args) -> anyhow::Result<()> {
    if let Some(page) = &args.page {
        ensure!(page.is_file(), "{}: there is no such page", page.display());
    }
    let folder = root.join("target/browser");
    let tool = folder.join("tool");
    let browser = match ready(root, &tool) {
        Ok(browser) => browser,
        Err(missing) if args.where_possible => {
            eprintln!("browser: pages are not checked, since {missing:#}");
            return Ok(());
        }
        Err(missing) => return Err(missing),
    };
    let pages = match &args.page {
        Some(page) => vec![("page", page.clone())],
        None => vec![("sample", sample(root, &folder)?), ("review", root.join(REVIEW))],
    };
    let mut faulty = Vec::new();
    for (name, page) in &pages {
        let status = Command::new("node")
            .arg(tool.join("check.mjs"))
            .args([&browser, page, &folder.join(name)])
            .status()
            .context("cannot run node")?;
        match status.code() {
            Some(0) => {}
            Some(1) => faulty.push(page.display().to_string()),
            _ => bail!("the browser could not open {}", page.display()),
        }
    }
    ensure!(faulty.is_empty(), "faults in {}", faulty.join(" and "));
    Ok(())
}

/// Installs what the check needs beside the pages, so that no folder of sources fills with packages, and
/// returns the browser.
fn ready(root: &Path, tool: &Path) -> anyhow::Result<PathBuf> {
    let browser = on_path(&BROWSERS).context("there is no Chromium; install it (Debian: apt-get install chromium)")?;
    let node = machine::output(root, "node", &["--version"]);
    ensure!(node.is_some(), "there is no node; install it (Debian: apt-get install nodejs npm)");
    fs::create_dir_all(tool).with_context(|| format!("cannot make {}", tool.display()))?;
    for file in FILES {
        let from = root.join("xtask/browser").join(file);
        fs::copy(&from, tool.join(file)).with_context(|| format!("cannot copy {}", from.display()))?;
    }
    let installed = Command::new("npm")
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"])
        .current_dir(tool)
        .output()
        .context("npm cannot be run; install it (Debian: apt-get install npm)")?;
    let said = String::from_utf8_lossy(&installed.stderr);
    ensure!(installed.status.success(), "npm ci failed: {}", said.trim());
    Ok(browser)
}

/// The first of these programs that is installed.
fn on_path(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut places = names.iter().flat_map(|name| std::env::split_paths(&path).map(move |folder| folder.join(name)));
    places.find(|place| place.is_file())
}

/// The sample page.
fn sample(root: &Path, folder: &Path) -> anyhow::Result<PathBuf> {
    let program = process::build(root, &["build", "--package", "shardlab-report", "--example", "page"], "page")?;
    let output =
        Command::new(&program).arg("html").output().with_context(|| format!("cannot run {}", program.display()))?;
    ensure!(output.status.success(), "{}: {}", program.display(), String::from_utf8_lossy(&output.stderr));
    let page = folder.join("sample.html");
    fs::write(&page, &output.stdout).with_context(|| format!("cannot write {}", page.display()))?;
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_file_pins_one_package_and_names_no_place_but_the_public_registry() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("browser");
        let read = |file: &str| -> serde_json::Value {
            serde_json::from_str(&fs::read_to_string(folder.join(file)).expect(file)).expect(file)
        };
        let (package, lock) = (read("package.json"), read("package-lock.json"));
        let wanted = package["dependencies"].as_object().expect("dependencies");
        for (name, version) in wanted {
            let locked = &lock["packages"][format!("node_modules/{name}")];
            assert_eq!(&locked["version"], version, "{name} is not pinned");
            assert!(locked["integrity"].as_str().is_some_and(|hash| hash.starts_with("sha512-")), "{name}");
        }
        for (name, locked) in lock["packages"].as_object().expect("packages") {
            let place = locked["resolved"].as_str();
            assert!(place.is_none_or(|place| place.starts_with("https://registry.npmjs.org/")), "{name}: {place:?}");
        }
    }

    #[test]
    fn a_page_that_is_not_there_is_an_error_that_names_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let missing = folder.path().join("no-page.html");
        let args = Args { page: Some(missing), where_possible: false };
        let error = run(&crate::root::workspace(), &args).expect_err("it is not there");
        assert!(error.to_string().ends_with("no-page.html: there is no such page"), "{error:#}");
    }
}

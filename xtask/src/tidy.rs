//! Checks the shape of the house: the rules that a compiler does not check and that a reviewer would
//! have to remember.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

/// Who may depend on whom among the crates of this workspace. `scheme-*` stands for every scheme.
const ARROWS: &[(&str, &[&str])] = &[
    ("kernels", &[]),
    ("core", &[]),
    ("hash", &["core", "kernels"]),
    ("scheme-*", &["core", "hash", "kernels"]),
    ("presets", &["scheme-*", "hash", "core"]),
    ("schemes", &["scheme-*", "presets", "core", "hash"]),
    ("keys", &["core", "hash"]),
    ("harness", &["core", "keys", "hash"]),
    ("study", &["harness", "core", "keys", "hash"]),
    ("report", &["core"]),
    ("engine", &["schemes", "keys", "study", "report", "core", "hash"]),
    ("python", &["schemes", "keys", "study", "report", "core", "hash"]),
];

/// These stand on top and may use everything below, but nothing uses them.
const TOP: &[&str] = &["cli", "benches", "xtask"];

/// Crates that get schemes through the traits and never speak of one.
const NAMELESS: &[&str] = &["harness", "study", "report"];

const LONGEST_README: usize = 150;
const LONGEST_MAIN: usize = 100;

pub(crate) fn run(root: &Path) -> anyhow::Result<()> {
    let packages = packages(root)?;
    let mut faults = Vec::new();
    for package in &packages {
        check_arrows(package, &mut faults);
        check_manifest(package, &mut faults)?;
        check_sources(root, package, &packages, &mut faults)?;
    }
    check_house(root, &packages, &mut faults)?;
    if faults.is_empty() {
        println!("tidy: {} packages in order", packages.len());
        return Ok(());
    }
    for fault in &faults {
        eprintln!("{fault}");
    }
    bail!("{} faults", faults.len());
}

/// A package of the workspace.
struct Package {
    /// The folder's name, which is the crate's name in the rules.
    name: String,
    folder: PathBuf,
    /// Crates of the workspace that it depends on, by folder, and whether only for its tests.
    dependencies: Vec<(String, bool)>,
}

impl Package {
    /// The name in the table of arrows.
    fn kind(&self) -> &str {
        if self.name.starts_with("scheme-") { "scheme-*" } else { &self.name }
    }
}

fn packages(root: &Path) -> anyhow::Result<Vec<Package>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(root)
        .output()
        .context("cannot run cargo metadata")?;
    anyhow::ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let list = metadata["packages"].as_array().context("cargo metadata has no packages")?;
    let folder_name =
        |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let package = |value: &serde_json::Value| {
        let manifest = Path::new(value["manifest_path"].as_str().context("a package without manifest")?);
        let folder = manifest.parent().context("a manifest without folder")?.to_path_buf();
        let dependencies = value["dependencies"].as_array().into_iter().flatten().filter_map(|dependency| {
            let path = Path::new(dependency["path"].as_str()?);
            Some((folder_name(path), dependency["kind"].as_str() == Some("dev")))
        });
        Ok(Package { name: folder_name(&folder), dependencies: dependencies.collect(), folder })
    };
    list.iter().map(package).collect()
}

fn check_arrows(package: &Package, faults: &mut Vec<String>) {
    let name = &package.name;
    let allowed = ARROWS.iter().find(|(kind, _)| *kind == package.kind()).map(|(_, allowed)| *allowed);
    let on_top = TOP.contains(&name.as_str());
    if allowed.is_none() && !on_top {
        faults.push(format!("{name}: not in the table of arrows in xtask/src/tidy.rs"));
    }
    for (dependency, for_tests) in &package.dependencies {
        let kind = if dependency.starts_with("scheme-") { "scheme-*" } else { dependency };
        if TOP.contains(&kind) {
            faults.push(format!("{name} -> {dependency}: nothing depends on {dependency}"));
        } else if *for_tests && package.kind() == "scheme-*" && kind == "scheme-*" {
            faults.push(format!("{name} -> {dependency}: a scheme never depends on another, not even in tests"));
        } else if !for_tests && !on_top && !allowed.is_some_and(|allowed| allowed.contains(&kind)) {
            faults.push(format!("{name} -> {dependency}: this arrow is not in the design"));
        }
    }
}

fn check_manifest(package: &Package, faults: &mut Vec<String>) -> anyhow::Result<()> {
    let path = package.folder.join("Cargo.toml");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let manifest: toml::Table = text.parse().with_context(|| format!("{} is not TOML", path.display()))?;
    let name = &package.name;
    let inherits = |value: Option<&toml::Value>| {
        value.and_then(|value| value.get("workspace")).and_then(toml::Value::as_bool) == Some(true)
    };
    let has_own = || {
        // Where unsafe code lives, every block of it has to say why it is sound.
        let clippy = manifest.get("lints").and_then(|lints| lints.get("clippy"));
        name == "kernels"
            && clippy.and_then(|lints| lints.get("undocumented_unsafe_blocks")).and_then(toml::Value::as_str)
                == Some("deny")
    };
    if !inherits(manifest.get("lints")) && !has_own() {
        faults.push(format!("{name}: [lints] workspace = true is missing"));
    }
    for field in ["version", "edition", "rust-version", "license", "publish"] {
        if !inherits(manifest.get("package").and_then(|table| table.get(field))) {
            faults.push(format!("{name}: {field}.workspace = true is missing"));
        }
    }
    // Otherwise `cargo bench -- --save-baseline x` hands the flag to a test harness that knows none.
    let unbenched = |target: Option<&toml::Value>| {
        target.and_then(|target| target.get("bench")) == Some(&toml::Value::Boolean(false))
    };
    if package.folder.join("src/lib.rs").exists() && !unbenched(manifest.get("lib")) {
        faults.push(format!("{name}: [lib] bench = false is missing"));
    }
    let bins = manifest.get("bin").and_then(toml::Value::as_array);
    if package.folder.join("src/main.rs").exists()
        && !bins.is_some_and(|bins| bins.iter().all(|bin| unbenched(Some(bin))))
    {
        faults.push(format!("{name}: [[bin]] with bench = false is missing"));
    }
    Ok(())
}

fn check_sources(root: &Path, package: &Package, packages: &[Package], faults: &mut Vec<String>) -> anyhow::Result<()> {
    let mut files = Vec::new();
    rust_files(&package.folder, &mut files)?;
    let schemes: Vec<&str> = packages.iter().filter_map(|package| package.name.strip_prefix("scheme-")).collect();
    for path in files {
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let shown = path.strip_prefix(root).unwrap_or(&path).display();
        let in_src = path.starts_with(package.folder.join("src"));
        for (line, code) in (1..).zip(text.lines()) {
            let words = || code.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
            let comment = code.trim_start().starts_with("//");
            if package.name != "kernels" && package.name != "xtask" && !comment && words().any(|word| word == "unsafe")
            {
                faults.push(format!("{shown}:{line}: unsafe belongs into crates/kernels"));
            }
            let prints =
                ["println!", "eprintln!", "print!", "eprint!"].iter().any(|call| code.trim_start().starts_with(call));
            if in_src && prints && !["cli", "xtask"].contains(&package.name.as_str()) {
                faults.push(format!("{shown}:{line}: only cli and xtask print"));
            }
            if in_src && NAMELESS.contains(&package.name.as_str()) {
                for scheme in schemes.iter().filter(|scheme| speaks_of(code, scheme)) {
                    faults.push(format!("{shown}:{line}: {} names the scheme {scheme}", package.name));
                }
            }
        }
    }
    Ok(())
}

/// Whether a line asks for a scheme by name, alone or with options; its name may be a common word as
/// well, so that prose does not count. What needs a scheme's crate is caught by the arrows.
fn speaks_of(code: &str, scheme: &str) -> bool {
    [format!("\"{scheme}\""), format!("\"{scheme}:")].iter().any(|spec| code.contains(spec))
}

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let mut entries: Vec<_> = fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    entries.sort_by_key(fs::DirEntry::path);
    for entry in entries {
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            rust_files(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

fn check_house(root: &Path, packages: &[Package], faults: &mut Vec<String>) -> anyhow::Result<()> {
    for package in packages {
        if !package.folder.join("README.md").exists() {
            faults.push(format!("{}: no README.md", package.name));
        }
        if package.kind() == "scheme-*" && !package.folder.join("tests/conformance.rs").exists() {
            faults.push(format!("{}: no tests/conformance.rs", package.name));
        }
    }
    for file in [
        "README.md",
        "METHODOLOGY.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "LICENSE-MIT",
        "LICENSE-APACHE",
        "reports/README.md",
    ] {
        if !root.join(file).exists() {
            faults.push(format!("{file} is missing"));
        }
    }
    for file in ["rust-toolchain", "rust-toolchain.toml", "benches/build.rs"] {
        if root.join(file).exists() {
            faults.push(format!("{file} must not be there"));
        }
    }
    let limits = BTreeMap::from([("README.md", LONGEST_README), ("crates/cli/src/main.rs", LONGEST_MAIN)]);
    for (file, most) in limits {
        let lines = fs::read_to_string(root.join(file)).unwrap_or_default().lines().count();
        if lines > most {
            faults.push(format!("{file}: {lines} lines, at most {most}"));
        }
    }
    let manifest: toml::Table = fs::read_to_string(root.join("Cargo.toml"))?.parse()?;
    let defaults = manifest["workspace"].get("default-members").and_then(toml::Value::as_array);
    for heavy in ["engine", "python"] {
        let listed = defaults.is_some_and(|list| {
            list.iter()
                .any(|member| member.as_str().is_some_and(|member| member.contains(heavy) || member == "crates/*"))
        });
        if listed {
            faults.push(format!("default-members must leave out {heavy}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, dependencies: &[(&str, bool)]) -> Package {
        let dependencies = dependencies.iter().map(|(name, dev)| ((*name).to_owned(), *dev)).collect();
        Package { name: name.to_owned(), folder: PathBuf::new(), dependencies }
    }

    fn faults(name: &str, dependencies: &[(&str, bool)]) -> Vec<String> {
        let mut faults = Vec::new();
        check_arrows(&package(name, dependencies), &mut faults);
        faults
    }

    #[test]
    fn arrows_of_the_design_pass() {
        assert!(faults("scheme-ring", &[("core", false), ("hash", false)]).is_empty());
        assert!(faults("harness", &[("core", false), ("keys", false), ("schemes", true)]).is_empty());
        assert!(faults("cli", &[("schemes", false), ("report", false)]).is_empty());
    }

    #[test]
    fn a_scheme_is_named_by_its_spec_and_not_by_a_word_of_prose() {
        assert!(speaks_of("parse(\"ring:vnodes=3\")", "ring") && speaks_of("name == \"ring\"", "ring"));
        assert!(!speaks_of("let words = \"a ring of keys\";", "ring") && !speaks_of("ring.owner(key)", "ring"));
    }

    #[test]
    fn other_arrows_are_faults() {
        assert_eq!(faults("core", &[("hash", false)]).len(), 1);
        assert_eq!(faults("harness", &[("schemes", false)]).len(), 1);
        assert_eq!(faults("scheme-ring", &[("scheme-jump", true)]).len(), 1);
        assert_eq!(faults("keys", &[("cli", true)]).len(), 1);
        assert_eq!(faults("surprise", &[]).len(), 1);
    }
}

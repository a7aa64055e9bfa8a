//! Adds a scheme: one new folder, one dependency line, one registry line.

use std::fs;
use std::path::Path;

use anyhow::{Context, bail, ensure};

/// The files of a new scheme, with `@NAME@`, `@IDENT@` and `@TYPE@` to be filled in.
const FILES: &[(&str, &str)] = &[
    ("Cargo.toml", include_str!("../templates/scheme/Cargo.toml.txt")),
    ("README.md", include_str!("../templates/scheme/README.md.txt")),
    ("src/lib.rs", include_str!("../templates/scheme/lib.rs.txt")),
    ("src/@IDENT@.rs", include_str!("../templates/scheme/scheme.rs.txt")),
    ("tests/conformance.rs", include_str!("../templates/scheme/conformance.rs.txt")),
];

const REGISTRY: &str = "crates/schemes/src/registry.rs";
const MANIFEST: &str = "crates/schemes/Cargo.toml";
/// New registry lines go above this one.
const REGISTRY_MARK: &str = "    // New schemes go above this line";

pub(crate) fn run(root: &Path, name: &str) -> anyhow::Result<()> {
    check_name(name)?;
    let folder = root.join(format!("crates/scheme-{name}"));
    ensure!(!folder.exists(), "{} exists already", folder.display());
    let fill = |text: &str| {
        text.replace("@NAME@", name).replace("@IDENT@", &name.replace('-', "_")).replace("@TYPE@", &type_name(name))
    };
    // Both edits are made in memory first, so that a surprise in either leaves the tree untouched.
    let registry = read(&root.join(REGISTRY))?;
    let manifest = read(&root.join(MANIFEST))?;
    let crate_ident = format!("shardlab_scheme_{}", name.replace('-', "_"));
    let registry = insert_before(&registry, REGISTRY_MARK, &format!("    {crate_ident}::scheme,\n"))
        .with_context(|| format!("{REGISTRY} has lost its line {REGISTRY_MARK:?}"))?;
    let last =
        manifest.lines().rfind(|line| line.starts_with("shardlab-scheme-")).context("no scheme in the manifest")?;
    let line = format!("{last}\nshardlab-scheme-{name} = {{ path = \"../scheme-{name}\" }}");
    let manifest = manifest.replacen(last, &line, 1);
    for (file, text) in FILES {
        let path = folder.join(fill(file));
        fs::create_dir_all(path.parent().unwrap_or(&folder))?;
        fs::write(&path, fill(text)).with_context(|| format!("cannot write {}", path.display()))?;
    }
    fs::write(root.join(REGISTRY), registry)?;
    fs::write(root.join(MANIFEST), manifest)?;
    println!("Added crates/scheme-{name}, its line in {MANIFEST} and its line in {REGISTRY}.");
    println!("Next: replace the algorithm, then run cargo test -p shardlab-scheme-{name}.");
    Ok(())
}

fn check_name(name: &str) -> anyhow::Result<()> {
    let fits = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    if !name.starts_with(|letter: char| letter.is_ascii_lowercase()) || !name.chars().all(fits) || name.ends_with('-') {
        bail!("{name:?} is no name for a scheme: lower-case letters, digits and hyphens, beginning with a letter");
    }
    Ok(())
}

/// `two-words` becomes `TwoWords`.
fn type_name(name: &str) -> String {
    let capitalised = name.split('-').map(|word| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase().to_string() + letters.as_str()).unwrap_or_default()
    });
    capitalised.collect()
}

fn insert_before(text: &str, mark: &str, line: &str) -> Option<String> {
    let at = text.find(mark)?;
    Some(format!("{}{line}{}", &text[..at], &text[at..]))
}

fn read(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_scheme_is_a_folder_and_two_lines() {
        let root = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put(REGISTRY, &format!("    shardlab_scheme_jump::scheme,\n{REGISTRY_MARK}; …\n"));
        put(MANIFEST, "[dependencies]\nshardlab-scheme-jump = { path = \"../scheme-jump\" }\nthiserror = \"2\"\n");
        run(root.path(), "two-words").unwrap();
        let registry = read(&root.path().join(REGISTRY)).unwrap();
        assert!(registry.contains("jump::scheme,\n    shardlab_scheme_two_words::scheme,\n    // New"), "{registry}");
        let manifest = read(&root.path().join(MANIFEST)).unwrap();
        assert!(
            manifest.contains("\nshardlab-scheme-two-words = { path = \"../scheme-two-words\" }\nthiserror"),
            "{manifest}"
        );
        let source = read(&root.path().join("crates/scheme-two-words/src/two_words.rs")).unwrap();
        assert!(source.contains("pub struct TwoWords") && !source.contains('@'), "{source}");
        assert!(run(root.path(), "two-words").is_err(), "a second time");
    }

    #[test]
    fn names_that_would_not_be_specs_are_refused() {
        for name in ["", "Jump", "1st", "a_b", "a b", "a-", "../x", "ä"] {
            assert!(check_name(name).is_err(), "{name:?}");
        }
    }
}

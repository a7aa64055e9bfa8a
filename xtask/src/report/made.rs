//! Files as they would be made now, beside those that are stored.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::Context;

/// A file that a command makes.
#[derive(Debug, PartialEq)]
pub(super) struct Made {
    /// From the root of the workspace, with slashes.
    pub(super) path: String,
    pub(super) content: Vec<u8>,
}

impl Made {
    pub(super) fn text(path: &str, text: String) -> Self {
        Self { path: path.to_owned(), content: text.into_bytes() }
    }

    /// A file whose first line is a comment that says where it comes from. A comment of XML ends at two hyphens,
    /// so that a picture cannot name flags.
    pub(super) fn marked(path: &str, origin: &str, text: &str) -> Self {
        let gap = if Path::new(path).extension().is_some_and(|extension| extension == "md") { "\n" } else { "" };
        Self::text(path, format!("<!-- {origin} -->\n{gap}{text}"))
    }
}

/// The first line in which a stored file differs from what would be made, in words; nothing where both are the
/// same bytes.
pub(super) fn difference(root: &Path, made: &Made) -> anyhow::Result<Option<String>> {
    let path = &made.path;
    let stored = match fs::read(root.join(path)) {
        Ok(stored) => stored,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Some(format!("{path}: is not there"))),
        Err(error) => return Err(error).with_context(|| format!("cannot read {path}")),
    };
    Ok(first_difference(&stored, &made.content).map(|words| format!("{path}:{words}")))
}

/// The number of the first line that differs, and both.
fn first_difference(stored: &[u8], made: &[u8]) -> Option<String> {
    if stored == made {
        return None;
    }
    let (mut stored, mut made) =
        (stored.split_inclusive(|&byte| byte == b'\n'), made.split_inclusive(|&byte| byte == b'\n'));
    let mut number = 1;
    loop {
        let (old, new) = (stored.next(), made.next());
        if old != new {
            let same = old.unwrap_or_default().iter().zip(new.unwrap_or_default()).take_while(|(old, new)| old == new);
            let same = same.count();
            return Some(format!("{number}: differs\n  stored: {}\n  made:   {}", shown(old, same), shown(new, same)));
        }
        // Two files that differ have a line that does.
        old?;
        number += 1;
    }
}

/// How many bytes of a line are shown before the first that differs, and from there on.
const BEFORE: usize = 40;
const BEHIND: usize = 120;

/// A line around the byte from which on it differs, harmless for a terminal.
fn shown(line: Option<&[u8]>, same: usize) -> String {
    let Some(line) = line else { return "(the file has ended)".to_owned() };
    let (from, to) = (same.saturating_sub(BEFORE), line.len().min(same + BEHIND));
    let mut words = if from > 0 { "…".to_owned() } else { String::new() };
    for letter in String::from_utf8_lossy(line.get(from..to).unwrap_or_default()).chars() {
        if matches!(letter, '"' | '\'' | '\\') {
            words.push(letter);
        } else {
            words.extend(letter.escape_debug());
        }
    }
    words + if to < line.len() { "…" } else { "" }
}

/// Files in folders of ours that nothing makes, from the root of the workspace.
pub(super) fn stray(root: &Path, folders: &[&str], made: &[Made]) -> anyhow::Result<Vec<String>> {
    let mut files = Vec::new();
    for folder in folders {
        files_below(&root.join(folder), &mut files)?;
    }
    let paths = files.iter().map(|file| {
        let parts = file.strip_prefix(root).unwrap_or(file).components();
        parts.map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
    });
    Ok(paths.filter(|path| made.iter().all(|made| made.path != *path)).collect())
}

/// All files in a folder and the folders in it, in the order of their names; none where it is not there.
pub(super) fn files_below(folder: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", folder.display())),
    };
    let mut entries = entries.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::path);
    for entry in entries {
        if entry.file_type()?.is_dir() {
            files_below(&entry.path(), files)?;
        } else {
            files.push(entry.path());
        }
    }
    Ok(())
}

/// Writes a file under another name first, so that an interrupted run leaves the old one whole.
pub(super) fn write_file(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    let folder = path.parent().unwrap_or(path);
    let write = || {
        fs::create_dir_all(folder)?;
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".part");
        let part = folder.join(name);
        fs::write(&part, content)?;
        fs::rename(&part, path)
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_differs_is_told_with_both_sides() {
        assert_eq!(first_difference(b"a\nb\n", b"a\nb\n"), None);
        let told = |stored: &[u8], made: &[u8]| first_difference(stored, made).unwrap();
        assert_eq!(told(b"a\nb\nc\n", b"a\nB\nC\n"), "2: differs\n  stored: b\\n\n  made:   B\\n");
        assert_eq!(told(b"a\n", b"a\nb\n"), "2: differs\n  stored: (the file has ended)\n  made:   b\\n");
        assert_eq!(told(b"a\nb\n", b"a\n"), "2: differs\n  stored: b\\n\n  made:   (the file has ended)");
        assert_eq!(told(b"a", b"a\n"), "1: differs\n  stored: a\n  made:   a\\n", "an end that is missing");
        assert_eq!(told(b"a\r\n", b"a\n"), "1: differs\n  stored: a\\r\\n\n  made:   a\\n");
        assert_eq!(told(b"", b"a\n"), "1: differs\n  stored: (the file has ended)\n  made:   a\\n");
    }

    #[test]
    fn what_is_shown_of_a_line_is_short_and_harmless() {
        let told = first_difference("\u{1b}[31m\u{202e}\"é\"".as_bytes(), &[255, b'x']).unwrap();
        assert!(told.contains("\\u{1b}[31m\\u{202e}\"é\"") && told.contains("\u{fffd}x"), "{told}");
        assert!(first_difference(&[b'x'; 10_000], b"").unwrap().len() < 300);
        let (mut one, mut other) = (vec![b'-'; 10_000], vec![b'-'; 10_000]);
        (one[5000], other[5000]) = (b'1', b'2');
        let told = first_difference(&one, &other).unwrap();
        assert!(told.contains("-1-") && told.contains("-2-") && told.len() < 500, "{told}");
    }

    #[test]
    fn files_that_nothing_makes_are_found_in_folders_of_ours_alone() {
        let root = tempfile::tempdir().unwrap();
        for file in ["own/b.svg", "own/deep/c.svg", "own/a.svg", "else/d.svg"] {
            write_file(&root.path().join(file), b"x").unwrap();
        }
        let made = [Made::text("own/b.svg", String::new())];
        assert_eq!(stray(root.path(), &["own", "absent"], &made).unwrap(), ["own/a.svg", "own/deep/c.svg"]);
    }

    #[test]
    fn a_file_is_missing_then_written_then_the_same() {
        let root = tempfile::tempdir().unwrap();
        let made = Made::marked("deep/er/a.md", "Made by x --y", "text\n");
        assert_eq!(difference(root.path(), &made).unwrap().unwrap(), "deep/er/a.md: is not there");
        write_file(&root.path().join(&made.path), &made.content).unwrap();
        assert_eq!(difference(root.path(), &made).unwrap(), None);
        let written = fs::read_to_string(root.path().join("deep/er/a.md")).unwrap();
        assert_eq!(written, "<!-- Made by x --y -->\n\ntext\n");
        let names = fs::read_dir(root.path().join("deep/er")).unwrap().count();
        assert_eq!(names, 1, "nothing is left beside it");
    }
}

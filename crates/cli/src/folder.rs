//! Results of several files: a whole folder or nothing.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use tempfile::TempDir;

use crate::output::{folder_of, temporary};
use crate::undisturbed::Undisturbed;

/// Whether a file of a folder is one that the command wrote, by the folder and the path in it.
pub(crate) type IsOurs = fn(&Path, &str) -> bool;

/// A file of a folder, by its path in it, with `/` between folders.
pub(crate) type File = (String, String);

/// Refuses a folder that could not be written later, before any work is done: one that is there already, unless
/// it may be replaced, and one that holds something that `is_ours` does not know.
pub(crate) fn check_folder(path: &Path, replace: bool, is_ours: IsOurs) -> anyhow::Result<()> {
    let shown = path.display().to_string();
    let parent = folder_of(path);
    match fs::metadata(parent) {
        Err(error) => bail!("cannot write {shown:?}: the folder around it: {error}"),
        Ok(found) if !found.is_dir() => {
            bail!("cannot write {shown:?}: {:?} is no folder", parent.display().to_string())
        }
        Ok(_) => {}
    }
    // A folder that cannot be made now cannot be made later.
    drop(beside(path).with_context(|| format!("cannot write {shown:?}"))?);
    check_contents(path, replace, is_ours)
}

/// Refuses to replace what stands at a path unless it is an empty folder, or all of it is ours and may be replaced.
fn check_contents(path: &Path, replace: bool, is_ours: IsOurs) -> anyhow::Result<()> {
    let shown = path.display().to_string();
    // A link is followed, since what is replaced must be what was looked at.
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if fs::symlink_metadata(path).is_ok() {
                bail!("cannot write {shown:?}: it is a link to nothing");
            }
            return Ok(());
        }
        Err(error) => bail!("cannot write {shown:?}: {error}"),
        Ok(found) if !found.is_dir() => bail!("cannot write {shown:?}: it is a file; name a folder"),
        Ok(_) => {}
    }
    let names = names_in(path, "").with_context(|| format!("cannot read {shown:?}"))?;
    if names.is_empty() {
        return Ok(());
    }
    if !replace {
        bail!("{shown:?} is there already and not empty; --force replaces it, or name another folder with --out");
    }
    match names.iter().find(|name| !is_ours(path, name)) {
        Some(other) => bail!(
            "{shown:?} holds {other:?}, which this command does not write, so that it is not replaced; name another folder \
             with --out, or move that away"
        ),
        None => Ok(()),
    }
}

/// All files below a folder by their paths in it, sorted; an empty folder stands for itself.
fn names_in(path: &Path, before: &str) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let name = format!("{before}{}", entry.file_name().to_string_lossy());
        // Two levels are all that a result has; what is deeper is not ours by its name.
        if entry.file_type()?.is_dir() && before.is_empty() {
            let below = names_in(&entry.path(), &format!("{name}/"))?;
            if below.is_empty() { names.push(name) } else { names.extend(below) }
        } else {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// A new folder beside a path, so that a rename is all that is left to do.
fn beside(path: &Path) -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".shardlab-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // A private mode would stay with the folder when it takes its name.
        builder.permissions(fs::Permissions::from_mode(0o777));
    }
    builder.tempdir_in(folder_of(path))
}

/// Writes a folder as a whole or not at all. What stood there before is gone only once all of the new stands in
/// its place, and is looked at once more before that: the work may have taken hours.
pub(crate) fn write_folder(path: &Path, files: &[File], replace: bool, is_ours: IsOurs) -> anyhow::Result<()> {
    // An interruption in these moments would leave the temporary folder behind.
    let _undisturbed = Undisturbed::new();
    let shown = path.display().to_string();
    // The name of a link stays, and what it points to is replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let failed = || format!("cannot write {shown:?}; what was there is as it was");
    let written = beside(&target).and_then(|new| {
        files.iter().try_for_each(|(name, contents)| write_in(new.path(), name, contents))?;
        Ok(new)
    });
    let new = written.with_context(failed)?;
    check_contents(&target, replace, is_ours)?;
    take_place(&new, &target).with_context(failed)
}

fn write_in(folder: &Path, name: &str, contents: &str) -> io::Result<()> {
    let path: PathBuf = folder.join(name);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut file = temporary().tempfile_in(folder)?;
    file.write_all(contents.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist_noclobber(path).map(drop).map_err(|error| error.error)
}

/// Puts a folder in the place of another one, or where there is none or an empty one. The one that was there ends
/// up as the temporary one and goes with it.
fn take_place(new: &TempDir, target: &Path) -> io::Result<()> {
    let is_free = match fs::read_dir(target) {
        Ok(mut entries) => entries.next().is_none(),
        Err(_) => true,
    };
    if is_free {
        return fs::rename(new.path(), target);
    }
    match exchange(new.path(), target) {
        Ok(()) => Ok(()),
        // Where two names cannot be exchanged at once there is a moment without either.
        Err(_) => {
            let old = beside(target)?;
            let kept = old.path().join("old");
            fs::rename(target, &kept)?;
            fs::rename(new.path(), target).inspect_err(|_| {
                // Whatever this leads to, the first failure is the one to report.
                let _ = fs::rename(&kept, target);
            })
        }
    }
}

#[cfg(target_os = "linux")]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

#[cfg(not(target_os = "linux"))]
fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(text: &str) -> Vec<File> {
        vec![("a.txt".to_owned(), text.to_owned()), ("data/b.csv".to_owned(), text.to_owned())]
    }

    fn is_ours(_: &Path, name: &str) -> bool {
        ["a.txt", "data/b.csv"].contains(&name)
    }

    fn write(out: &Path, text: &str) {
        write_folder(out, &files(text), true, is_ours).unwrap();
    }

    /// The folder as a sorted list, with its temporary neighbours.
    fn neighbours(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn a_folder_takes_its_place_as_a_whole_and_leaves_nothing_beside_it() {
        let root = tempfile::tempdir().unwrap();
        let out = root.path().join("out");
        for text in ["first", "second"] {
            check_folder(&out, text == "second", is_ours).unwrap();
            write(&out, text);
            assert_eq!(fs::read_to_string(out.join("data/b.csv")).unwrap(), text);
            assert_eq!(neighbours(root.path()), ["out"]);
        }
        assert!(check_folder(&out, false, is_ours).is_err(), "it must not be replaced unasked");
    }

    #[test]
    fn what_somebody_else_put_there_is_never_replaced() {
        let root = tempfile::tempdir().unwrap();
        let out = root.path().join("out");
        write(&out, "x");
        fs::write(out.join("data/notes.txt"), "mine").unwrap();
        let refused = check_folder(&out, true, is_ours).unwrap_err().to_string();
        assert!(refused.contains("data/notes.txt"), "{refused}");
        // It came while the work was done.
        assert!(write_folder(&out, &files("y"), true, is_ours).is_err());
        fs::remove_file(out.join("data/notes.txt")).unwrap();
        assert!(write_folder(&out, &files("y"), false, is_ours).is_err());
        assert_eq!(fs::read_to_string(out.join("a.txt")).unwrap(), "x");
    }

    #[test]
    fn a_failure_leaves_what_was_there() {
        let root = tempfile::tempdir().unwrap();
        let out = root.path().join("out");
        write(&out, "x");
        // A file cannot be a folder as well.
        let bad = vec![("a".to_owned(), String::new()), ("a/b".to_owned(), String::new())];
        assert!(write_folder(&out, &bad, true, is_ours).is_err());
        assert_eq!(fs::read_to_string(out.join("a.txt")).unwrap(), "x");
        assert_eq!(neighbours(root.path()), ["out"]);
    }
}

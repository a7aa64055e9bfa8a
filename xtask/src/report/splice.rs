//! Generated parts of pages that are otherwise written by hand: whole lines between two comments.

use anyhow::{Context, ensure};

/// Puts lines between the comments that begin and end the part of a name, in place of what is there. The
/// comments stay as they are: the first says by which command the part is made.
pub(super) fn splice(page: &str, name: &str, lines: &str) -> anyhow::Result<String> {
    let (first, last) = (format!("<!-- begin {name}:"), format!("<!-- end {name} -->"));
    let (begin, after_begin) = only_line(page, &first, |line| line.starts_with(&first) && line.ends_with(" -->"))?;
    let (end, _) = only_line(page, &last, |line| line == last)?;
    ensure!(begin < end, "line {:?} stands before {first:?}", last);
    let gap = if lines.ends_with('\n') { "" } else { "\n" };
    Ok(format!("{}{lines}{gap}{}", &page[..after_begin], &page[end..]))
}

/// Where the only line of a kind begins, and the line after it.
fn only_line(page: &str, shown: &str, is_it: impl Fn(&str) -> bool) -> anyhow::Result<(usize, usize)> {
    let mut at = 0;
    let mut found = None;
    for line in page.split_inclusive('\n') {
        if is_it(line.trim_end()) {
            ensure!(found.is_none(), "there are two lines {shown:?}");
            found = Some((at, at + line.len()));
        }
        at += line.len();
    }
    found.with_context(|| format!("there is no line {shown:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "by hand\n<!-- begin a: made by x --y -->\nold\nolder\n<!-- end a -->\nby hand\n\
                        <!-- begin b: made by z -->\n<!-- end b -->\n";

    #[test]
    fn only_what_stands_between_the_comments_changes() {
        let spliced = splice(PAGE, "a", "new\n").unwrap();
        assert_eq!(spliced, PAGE.replace("old\nolder\n", "new\n"));
        assert_eq!(splice(&spliced, "a", "new").unwrap(), spliced, "a second time, without the last line feed");
        let both = splice(&spliced, "b", "filled\n").unwrap();
        assert_eq!(both, spliced.replace("made by z -->\n", "made by z -->\nfilled\n"));
    }

    #[test]
    fn comments_that_are_missing_doubled_or_turned_round_are_errors() {
        let refused = |page: &str, name: &str| splice(page, name, "x").unwrap_err().to_string();
        assert!(refused(PAGE, "c").starts_with("there is no line \"<!-- begin c:\""));
        assert!(refused("<!-- begin a: x -->\n", "a").starts_with("there is no line \"<!-- end a -->\""));
        assert!(refused(&format!("{PAGE}{PAGE}"), "a").starts_with("there are two lines"));
        assert!(refused("<!-- end a -->\n<!-- begin a: x -->\n", "a").contains("stands before"));
        assert!(refused("  in a line <!-- begin a: x -->\n<!-- end a -->\n", "a").starts_with("there is no line"));
    }
}

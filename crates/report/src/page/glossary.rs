//! Definitions for the end of a page, read from METHODOLOGY.md itself, so that they cannot drift.

use std::sync::LazyLock;

const METHODOLOGY: &str = include_str!("../../../../METHODOLOGY.md");

/// Every table of definitions in METHODOLOGY.md.
static GLOSSARY: LazyLock<Vec<Group>> = LazyLock::new(|| parse(METHODOLOGY));

/// The entries of one table, which belong together: their formulas share the letters that the paragraph
/// above the table introduces.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// The section that the table stands in.
    pub(super) section: String,
    /// The paragraph above the table.
    pub(super) context: Vec<Piece>,
    /// What the second column holds, such as `formula`.
    pub(super) column: String,
    pub(super) entries: Vec<Entry>,
}

/// One row of a table.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// What is defined; several names may share a row.
    pub(super) names: Vec<String>,
    pub(super) definition: Vec<Piece>,
    /// The name in links, unique over all tables.
    pub(super) id: String,
}

/// A piece of a line of METHODOLOGY.md.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    Code(String),
    /// What stands below the line in a formula: the i of `c_i`.
    Below(String),
}

/// A definition by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    group: usize,
    entry: usize,
}

/// Where a name is defined; see [`super::Span::Term`] for what a name may be.
pub(super) fn find(term: &str) -> Option<Place> {
    let (section, name) = match term.rsplit_once('/') {
        Some((section, name)) => (Some(section), name),
        None => (None, term),
    };
    GLOSSARY.iter().enumerate().filter(|(_, group)| section.is_none_or(|section| group.section == section)).find_map(
        |(number, group)| {
            let entry = group.entries.iter().position(|entry| entry.names.iter().any(|known| known == name))?;
            Some(Place { group: number, entry })
        },
    )
}

/// The entry at a place.
pub(super) fn entry(place: Place) -> &'static Entry {
    &GLOSSARY[place.group].entries[place.entry]
}

/// The entries at sorted places, by the tables that they stand in.
pub(super) fn grouped(places: impl IntoIterator<Item = Place>) -> Vec<(&'static Group, Vec<&'static Entry>)> {
    let mut groups: Vec<(usize, Vec<&'static Entry>)> = Vec::new();
    for place in places {
        match groups.last_mut() {
            Some((group, entries)) if *group == place.group => entries.push(entry(place)),
            _ => groups.push((place.group, vec![entry(place)])),
        }
    }
    groups.into_iter().map(|(group, entries)| (&GLOSSARY[group], entries)).collect()
}

fn parse(markdown: &str) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut section = "";
    let mut fenced = false;
    // The last paragraph, and whether an empty line has ended it.
    let (mut paragraph, mut ended) = (String::new(), true);
    let mut lines = markdown.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if fenced {
            // Examples hold no definitions.
        } else if let Some(heading) = line.strip_prefix("## ") {
            (section, paragraph, ended) = (heading.trim(), String::new(), true);
        } else if line.starts_with('|') {
            let head = cells(line);
            let mut entries = Vec::new();
            while let Some(row) = lines.next_if(|line| line.starts_with('|')) {
                if let [name, definition] = cells(row).as_slice()
                    && let Some(names) = names(name)
                {
                    let id = id(&groups, &entries, section, &names[0]);
                    entries.push(Entry { names, definition: pieces(definition), id });
                }
            }
            if let [_, column] = head.as_slice()
                && !entries.is_empty()
            {
                let context = pieces(&paragraph);
                groups.push(Group { section: section.to_owned(), context, column: column.clone(), entries });
            }
            (paragraph, ended) = (String::new(), true);
        } else if line.trim().is_empty() {
            ended = true;
        } else {
            if ended {
                paragraph.clear();
            } else {
                paragraph.push(' ');
            }
            paragraph.push_str(line.trim());
            ended = false;
        }
    }
    groups
}

/// The cells of a row, as Markdown parts them: a bar behind a backslash belongs to the cell.
fn cells(row: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut letters = row.trim().trim_start_matches('|').chars().peekable();
    while let Some(letter) = letters.next() {
        let last = cells.len() - 1;
        match letter {
            '\\' if letters.next_if_eq(&'|').is_some() => cells[last].push('|'),
            '|' if letters.peek().is_none() => break,
            '|' => cells.push(String::new()),
            _ => cells[last].push(letter),
        }
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

/// The names in a cell that holds nothing but names in backticks.
fn names(cell: &str) -> Option<Vec<String>> {
    let name = |part: &str| Some(part.trim().strip_prefix('`')?.strip_suffix('`')?.to_owned());
    cell.split(',').map(name).collect()
}

/// Text with its inline code and its indices apart.
fn pieces(line: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (number, part) in line.split('`').enumerate().filter(|(_, part)| !part.is_empty()) {
        if number % 2 == 0 {
            push_formula(&part.replace('*', ""), &mut pieces);
        } else {
            pieces.push(Piece::Code(part.to_owned()));
        }
    }
    pieces
}

/// An index is what follows an underscore behind a letter that stands alone.
fn push_formula(text: &str, pieces: &mut Vec<Piece>) {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('_') {
        plain.push_str(before);
        let mut back = before.chars().rev();
        let alone = back.next().is_some_and(char::is_alphabetic) && !back.next().is_some_and(char::is_alphanumeric);
        let end = behind.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(behind.len());
        if alone && end > 0 {
            pieces.push(Piece::Text(std::mem::take(&mut plain)));
            pieces.push(Piece::Below(behind[..end].to_owned()));
            rest = &behind[end..];
        } else {
            plain.push('_');
            rest = behind;
        }
    }
    plain.push_str(rest);
    if !plain.is_empty() {
        pieces.push(Piece::Text(plain));
    }
}

/// A name for links that no entry has yet: `term-`, then the name, and where another section defines the
/// same name, the section before it.
fn id(groups: &[Group], entries: &[Entry], section: &str, name: &str) -> String {
    let slug = |text: &str| {
        let letter = |letter: char| {
            if letter.is_ascii_alphanumeric() || letter == '_' { letter.to_ascii_lowercase() } else { '-' }
        };
        text.chars().map(letter).collect::<String>().trim_matches(['-', '_']).to_owned()
    };
    let taken = |id: &str| groups.iter().flat_map(|group| &group.entries).chain(entries).any(|known| known.id == id);
    let short = format!("term-{}", slug(name));
    if !taken(&short) {
        return short;
    }
    let long = format!("term-{}-{}", slug(section), slug(name));
    if !taken(&long) {
        return long;
    }
    (2..).map(|number| format!("{long}-{number}")).find(|id| !taken(id)).unwrap_or(long)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_row_of_the_methodology_can_be_named() {
        let mut ids = BTreeSet::new();
        let mut rows = 0;
        for (number, group) in GLOSSARY.iter().enumerate() {
            assert!(!group.context.is_empty(), "{}: no paragraph explains the letters", group.section);
            for (place, entry) in group.entries.iter().enumerate() {
                rows += 1;
                assert!(ids.insert(&entry.id), "{} stands for two definitions", entry.id);
                assert!(!entry.definition.is_empty(), "{:?}", entry.names);
                for name in &entry.names {
                    let here = Some(Place { group: number, entry: place });
                    let qualified = format!("{}/{name}", group.section);
                    assert!(find(name) == here || find(&qualified) == here, "{qualified} is defined twice");
                }
            }
        }
        // Counted otherwise: lines that begin as such a row does. A row of several columns defines nothing.
        let counted = METHODOLOGY
            .lines()
            .filter(|line| line.starts_with("| `") && line.replace("\\|", "").matches('|').count() == 3)
            .count();
        assert_eq!(rows, counted);
        assert!(rows > 50, "{rows}");
    }

    #[test]
    fn a_row_may_have_several_names_and_bars() {
        let groups = parse(
            "# T\n## One\nwords\n\nN of `x`\nand *M*.\n\n| name | formula |\n|---|---|\n| `a`, `b…` | \\|x − y\\| of `c` |\n\
             | d | e |\n\n```\n| `f` | g |\n```\n## Two\n\n| name | formula |\n|---|---|\n| `a` | 2 |\n\n| one | two | three |\n|---|---|---|\n| `h` | i | j |\n",
        );
        let code = |words: &str| Piece::Code(words.to_owned());
        let text = |words: &str| Piece::Text(words.to_owned());
        assert_eq!(groups.len(), 2);
        assert_eq!(groups[0].context, [text("N of "), code("x"), text(" and M.")]);
        assert_eq!(groups[0].entries.len(), 1);
        assert_eq!(groups[0].entries[0].names, ["a", "b…"]);
        assert_eq!(groups[0].entries[0].definition, [text("|x − y| of "), code("c")]);
        assert_eq!(groups[0].entries[0].id, "term-a");
        assert_eq!((groups[1].section.as_str(), groups[1].entries[0].id.as_str()), ("Two", "term-two-a"));
        assert_eq!(groups[1].context, []);
    }

    #[test]
    fn an_index_stands_below_the_line() {
        let text = |words: &str| Piece::Text(words.to_owned());
        let below = |words: &str| Piece::Below(words.to_owned());
        assert_eq!(
            pieces("Σ_k |B_k| of f_ij (_ a_ snake_case) x_0"),
            [
                text("Σ"),
                below("k"),
                text(" |B"),
                below("k"),
                text("| of f"),
                below("ij"),
                text(" (_ a_ snake_case) x"),
                below("0"),
            ]
        );
        assert_eq!(pieces("`a_b` c"), [Piece::Code("a_b".to_owned()), text(" c")]);
    }

    #[test]
    fn a_section_before_the_name_tells_equal_names_apart() {
        let first = find("peak_to_average").map(entry).expect("METHODOLOGY.md defines it");
        let other = find("What-if studies and paths/peak_to_average").map(entry).expect("it does twice");
        assert_ne!(first.id, other.id);
        assert_eq!(find("Movement/peak_to_average"), None);
        assert_eq!(find("peak"), None);
    }
}

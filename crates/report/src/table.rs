use comfy_table::{CellAlignment, ContentArrangement, ContentLineStyle, LineStyle, TableStyle, presets};

use crate::escape::{for_csv, for_markdown, for_terminal};

/// Forms of a table for people and programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Aligned columns for a terminal.
    Terminal,
    /// A table that pastes into a pull request.
    Markdown,
    /// Comma-separated values.
    Csv,
}

/// Columns set apart by space alone, with one line below the headings.
const PLAIN: TableStyle = TableStyle::new()
    .header_lines(ContentLineStyle::none())
    .header_separator(LineStyle::none().fill('─').junction('─'))
    .content_lines(ContentLineStyle::none());

/// A table of texts. Cells are raw; they are escaped when the table is rendered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    numeric: Vec<usize>,
    /// Whether line feeds in cells are layout. Otherwise they are escaped like all of their kind.
    stacked: bool,
}

impl Table {
    /// An empty table with these columns.
    pub fn new<T: Into<String>>(header: impl IntoIterator<Item = T>) -> Self {
        Self { header: header.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// An empty table in which line feeds part the lines of a cell. No cell of it may hold text from
    /// outside that has line feeds of its own.
    pub fn stacked<T: Into<String>>(header: impl IntoIterator<Item = T>) -> Self {
        Self { stacked: true, ..Self::new(header) }
    }

    /// Columns that hold numbers: aligned to the right, and left as they are in CSV.
    #[must_use]
    pub fn with_numbers(mut self, columns: impl IntoIterator<Item = usize>) -> Self {
        self.numeric = columns.into_iter().collect();
        self
    }

    /// Appends a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The table without the columns in which every cell is empty.
    #[must_use]
    pub fn without_empty_columns(self) -> Self {
        let filled = |column: &usize| self.rows.iter().any(|row| row.get(*column).is_some_and(|cell| !cell.is_empty()));
        let kept: Vec<usize> = (0..self.header.len()).filter(filled).collect();
        let pick = |row: &[String]| kept.iter().filter_map(|&column| row.get(column).cloned()).collect();
        Self {
            header: pick(&self.header),
            rows: self.rows.iter().map(|row| pick(row)).collect(),
            numeric: (0..kept.len()).filter(|&place| self.numeric.contains(&kept[place])).collect(),
            stacked: self.stacked,
        }
    }

    /// The table as text, ending in a line feed. Where a terminal's width is given and too small,
    /// the columns stand in several tables that all begin with the first column.
    #[must_use]
    pub fn render(&self, format: Format, width: Option<u16>) -> String {
        match format {
            Format::Csv => self.csv(),
            // A row of a Markdown table is one line of text.
            Format::Markdown => self.drawn(0..self.header.len(), presets::ASCII_MARKDOWN, " ", for_markdown),
            Format::Terminal => {
                let parts = self.parts(width.map_or(usize::MAX, usize::from));
                let drawn = parts.into_iter().map(|columns| self.drawn(columns, PLAIN, "\n", for_terminal));
                drawn.collect::<Vec<_>>().join("\n")
            }
        }
    }

    fn csv(&self) -> String {
        let mut writer = csv::WriterBuilder::new().from_writer(Vec::new());
        // Writing to memory cannot fail, and every row has the columns of the header.
        let _ = writer.write_record(&self.header);
        for row in &self.rows {
            let cells = row
                .iter()
                .enumerate()
                .map(|(column, cell)| if self.numeric.contains(&column) { cell.clone() } else { for_csv(cell) });
            let _ = writer.write_record(cells);
        }
        writer.into_inner().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    }

    /// The lines of a cell.
    fn lines<'a>(&self, cell: &'a str) -> impl Iterator<Item = &'a str> + use<'a> {
        let (first, rest) = if self.stacked {
            cell.split_once('\n').map_or((cell, None), |(first, rest)| (first, Some(rest)))
        } else {
            (cell, None)
        };
        std::iter::once(first).chain(rest.into_iter().flat_map(|rest| rest.split('\n')))
    }

    /// Which columns stand together so that each part fits the width.
    fn parts(&self, width: usize) -> Vec<Vec<usize>> {
        let cells =
            |column: usize| self.rows.iter().filter_map(move |row| row.get(column)).chain([&self.header[column]]);
        let needs = |column: usize| {
            let longest =
                cells(column).flat_map(|cell| self.lines(cell)).map(|line| for_terminal(line).chars().count());
            longest.max().unwrap_or(0) + 3
        };
        let mut parts: Vec<Vec<usize>> = vec![vec![0]];
        let mut used = needs(0);
        for column in 1..self.header.len() {
            let needed = needs(column);
            if used.saturating_add(needed) > width && parts.last().is_some_and(|part| part.len() > 1) {
                parts.push(vec![0]);
                used = needs(0);
            }
            used += needed;
            if let Some(part) = parts.last_mut() {
                part.push(column);
            }
        }
        parts
    }

    fn drawn(
        &self,
        columns: impl IntoIterator<Item = usize>,
        style: TableStyle,
        line_feed: &str,
        escape: fn(&str) -> String,
    ) -> String {
        let columns: Vec<usize> = columns.into_iter().collect();
        let shown = |cell: &String| self.lines(cell).map(escape).collect::<Vec<_>>().join(line_feed);
        let pick = |row: &[String]| -> Vec<String> {
            columns.iter().map(|&column| row.get(column).map(shown).unwrap_or_default()).collect()
        };
        let mut table = comfy_table::Table::new();
        table.load_style(style).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(pick(&self.header));
        table.add_rows(self.rows.iter().map(|row| pick(row)));
        for (place, column) in columns.iter().enumerate() {
            if self.numeric.contains(column)
                && let Some(column) = table.column_mut(place)
            {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table.trim_fmt() + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Table {
        let mut table = Table::new(["key", "node", "weight"]).with_numbers([1, 2]);
        table.row(["=cmd|x".into(), "-3".into(), "10".into()]);
        table.row(["b\u{1b}".into(), "11".into(), "1".into()]);
        table
    }

    #[test]
    fn csv_keeps_numbers_and_disarms_formulas() {
        assert_eq!(sample().render(Format::Csv, None), "key,node,weight\n'=cmd|x,-3,10\nb\\u{1b},11,1\n");
    }

    #[test]
    fn a_line_feed_from_outside_makes_no_line() {
        let mut table = Table::new(["key", "node"]);
        table.row(["x\n victim  7".into(), "1".into()]);
        assert_eq!(table.render(Format::Terminal, None).lines().count(), 3);
        let mut layout = Table::stacked(["key\nof two lines", "node"]);
        layout.row(["a\nb".into(), "1".into()]);
        assert_eq!(layout.render(Format::Terminal, None).lines().count(), 5);
    }

    #[test]
    fn markdown_escapes_its_own_syntax() {
        let text = sample().render(Format::Markdown, None);
        assert!(text.contains(r"=cmd\|x"), "{text}");
        assert!(text.lines().all(|line| line.starts_with('|') && line.ends_with('|')), "{text}");
    }

    #[test]
    fn a_narrow_terminal_gets_several_tables_that_begin_alike() {
        let text = sample().render(Format::Terminal, Some(20));
        assert_eq!(text.matches("key").count(), 2, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 22), "{text}");
        assert!(!text.contains('\u{1b}'));
    }
}

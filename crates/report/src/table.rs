use comfy_table::{CellAlignment, ContentArrangement, ContentLineStyle, LineStyle, TableStyle, presets};

use crate::escape::{for_csv, for_markdown, for_terminal};
use crate::wrap::{share_out, wrap};

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

/// What stands around the text of a column.
const GAP: usize = 3;

/// Texts are not wrapped to less than this as long as there is room.
const READABLE: usize = 16;

/// Words longer than this may be broken.
const LONG_WORD: usize = 32;

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
    /// headings and texts are wrapped, and where that is not enough the columns stand in several tables
    /// that all begin with the first column.
    #[must_use]
    pub fn render(&self, format: Format, width: Option<u16>) -> String {
        match format {
            Format::Csv => self.csv(),
            // A row of a Markdown table is one line of text.
            Format::Markdown => {
                let columns = (0..self.header.len()).map(|column| (column, usize::MAX));
                self.drawn(columns, presets::ASCII_MARKDOWN, " ", for_markdown)
            }
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

    /// The longest line and the longest word of a column, in characters as shown.
    fn extent(&self, column: usize) -> (usize, usize) {
        let numeric = self.numeric.contains(&column);
        let mut extent = (0, 0);
        let mut take = |cell: &str, whole: bool| {
            for line in self.lines(cell).map(for_terminal) {
                let longest = line.chars().count();
                let word = line.split(' ').map(|word| word.chars().count()).max().unwrap_or(0);
                extent = (longest.max(extent.0), if whole { longest } else { word }.max(extent.1));
            }
        };
        take(&self.header[column], false);
        for cell in self.rows.iter().filter_map(|row| row.get(column)) {
            // A number is read as one.
            take(cell, numeric);
        }
        extent
    }

    /// Which columns stand together so that each part fits the width, and how wide each may be.
    fn parts(&self, width: usize) -> Vec<Vec<(usize, usize)>> {
        let extents: Vec<(usize, usize)> = (0..self.header.len()).map(|column| self.extent(column)).collect();
        let whole: usize = extents.iter().map(|(line, _)| line + GAP).sum();
        if whole <= width {
            return vec![extents.iter().enumerate().map(|(column, &(line, _))| (column, line)).collect()];
        }
        // Prose is wrapped before it gets too narrow to read; numbers and headings need their words.
        let least = |column: usize| {
            let (line, word) = extents[column];
            let readable =
                if self.numeric.contains(&column) { word } else { word.clamp(line.min(READABLE), LONG_WORD) };
            line.min(readable)
        };
        let mut parts: Vec<Vec<usize>> = vec![vec![0]];
        let mut used = least(0) + GAP;
        for column in 1..self.header.len() {
            let needed = least(column) + GAP;
            if used + needed > width && parts.last().is_some_and(|part| part.len() > 1) {
                parts.push(vec![0]);
                used = least(0) + GAP;
            }
            used += needed;
            if let Some(part) = parts.last_mut() {
                part.push(column);
            }
        }
        let widths = |part: Vec<usize>| {
            let needs: Vec<usize> = part.iter().map(|&column| extents[column].0).collect();
            let least: Vec<usize> = part.iter().map(|&column| least(column)).collect();
            let room = width.saturating_sub(GAP * part.len());
            part.into_iter().zip(share_out(&needs, &least, room)).collect()
        };
        parts.into_iter().map(widths).collect()
    }

    /// Draws columns, each wrapped to its width.
    fn drawn(
        &self,
        columns: impl IntoIterator<Item = (usize, usize)>,
        style: TableStyle,
        line_feed: &str,
        escape: fn(&str) -> String,
    ) -> String {
        let columns: Vec<(usize, usize)> = columns.into_iter().collect();
        let shown = |cell: &String, width: usize| {
            let lines = self.lines(cell).map(escape).flat_map(|line| wrap(&line, width));
            lines.collect::<Vec<_>>().join(line_feed)
        };
        let pick = |row: &[String]| -> Vec<String> {
            let cell = |&(column, width): &(usize, usize)| row.get(column).map(|cell| shown(cell, width));
            columns.iter().map(|column| cell(column).unwrap_or_default()).collect()
        };
        let mut table = comfy_table::Table::new();
        table.load_style(style).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(pick(&self.header));
        table.add_rows(self.rows.iter().map(|row| pick(row)));
        for (place, (column, _)) in columns.iter().enumerate() {
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
    fn headings_and_texts_are_wrapped_before_columns_are_parted() {
        let mut table = Table::new(["way", "documents that are rewritten", "what it means"]).with_numbers([1]);
        table.row(["12 > 24".into(), "1234567".into(), "a sentence that is much longer than the screen is".into()]);
        let text = table.render(Format::Terminal, Some(48));
        assert_eq!(text.matches("way").count(), 1, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 48), "{text}");
        for words in ["12 > 24", "1234567", "documents"] {
            assert!(text.contains(words), "{text}");
        }
        let whole = table.render(Format::Terminal, None);
        assert_eq!(whole.lines().count(), 3, "{whole}");
    }

    #[test]
    fn a_narrow_terminal_gets_several_tables_that_begin_alike() {
        let text = sample().render(Format::Terminal, Some(20));
        assert_eq!(text.matches("key").count(), 2, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 20), "{text}");
        assert!(!text.contains('\u{1b}'));
    }
}

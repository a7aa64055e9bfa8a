//! What a page holds, in the order in which it is read. All text is plain: whoever builds a page hands
//! over names and ids as they are, and each renderer makes them harmless for its own form.

/// A report that a review is held over.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// The heading of the whole page.
    pub title: String,
    /// Paragraphs below the title.
    pub lead: Vec<Vec<Span>>,
    /// The parts, each with its line in the contents.
    pub sections: Vec<Section>,
    /// What made the page, such as `shardlab 0.1.0`.
    pub generator: String,
}

/// A part of a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// The name in links: a lower-case letter, then lower-case letters, digits and hyphens. No two
    /// sections share one, and `contents`, `definitions` and `top` belong to the page itself.
    pub id: String,
    /// Its heading.
    pub heading: String,
    /// What stands below the heading.
    pub blocks: Vec<Block>,
}

/// A piece of a section.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Block {
    /// Running text.
    Paragraph(Vec<Span>),
    /// Points without an order.
    List(Vec<Vec<Span>>),
    /// What must not be overlooked, set apart from the text around it.
    Callout {
        /// What it is.
        kind: CalloutKind,
        /// The statement itself, in one line.
        heading: String,
        /// What there is to say about it.
        blocks: Vec<Block>,
    },
    /// A table.
    Table(PageTable),
    /// A picture.
    Figure(Figure),
    /// A command line to copy, in one line.
    Command(String),
    /// Lines of a file, as they are.
    Listing {
        /// What the lines are written in, such as `toml`; letters alone.
        language: &'static str,
        /// The lines, without their line feeds.
        lines: Vec<String>,
    },
    /// Names and what they stand for.
    Facts(Vec<(String, Vec<Span>)>),
    /// A heading within the section.
    Subheading(String),
    /// What only some readers want, folded.
    Details {
        /// What is folded here.
        summary: String,
        /// What appears when it is opened.
        blocks: Vec<Block>,
    },
}

/// What a callout is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CalloutKind {
    /// The answer to the question that the page asks.
    Answer,
    /// What makes a conclusion unsafe.
    Warning,
    /// What helps to read what follows.
    Note,
}

impl CalloutKind {
    /// The word that stands before the heading, so that no colour is needed to tell the kinds apart.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Answer => "Answer",
            Self::Warning => "Warning",
            Self::Note => "Note",
        }
    }
}

/// A piece of a line.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Span {
    /// Words.
    Text(String),
    /// Words that matter more than those around them.
    Strong(String),
    /// What a machine reads or writes: a spec, a flag, an id.
    Code(String),
    /// Words that METHODOLOGY.md defines.
    Term {
        /// The words as they stand in the line.
        words: String,
        /// The name of the definition in METHODOLOGY.md, such as `peak_to_average`. Where several
        /// sections define a name, the first one is meant unless the section stands before it:
        /// `What-if studies and paths/peak_to_average`.
        term: &'static str,
    },
    /// Words that lead elsewhere.
    Link {
        /// The words.
        words: String,
        /// `#section`, a relative path, or an address that begins with `https://`.
        href: String,
    },
}

/// A table of a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageTable {
    /// What the table shows, and in which units.
    pub caption: String,
    /// The columns; the first one names the rows.
    pub columns: Vec<Column>,
    /// One cell for each column.
    pub rows: Vec<Vec<Cell>>,
    /// What cells refer to by number, from 1.
    pub footnotes: Vec<Vec<Span>>,
}

/// A column of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Column {
    /// Its heading.
    pub heading: String,
    /// The definition of what the column shows, as in [`Span::Term`].
    pub term: Option<&'static str>,
    /// Whether it holds numbers, which stand below each other by their last digit.
    pub numeric: bool,
}

/// A cell of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// What it says.
    pub spans: Vec<Span>,
    /// What it is sorted by in place of its words. Cells without one come behind those that have one.
    pub sort: Option<f64>,
    /// How it was judged.
    pub mark: Option<Mark>,
    /// A second, smaller line, such as the uncertainty of a number.
    pub below: Vec<Span>,
    /// Numbers of the footnotes that belong to it, from 1.
    pub notes: Vec<usize>,
}

/// How something was judged against a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The requirement is met.
    Met,
    /// The requirement is not met.
    NotMet,
    /// The evidence decides it neither way.
    Uncertain,
    /// The question cannot be asked here.
    NotApplicable,
}

impl Mark {
    /// The mark in a word, so that neither colour nor symbol is needed to read it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::NotMet => "not met",
            Self::Uncertain => "uncertain",
            Self::NotApplicable => "n/a",
        }
    }

    /// The mark in one sign, beside the word.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Met => "✓",
            Self::NotMet => "✗",
            Self::Uncertain => "?",
            Self::NotApplicable => "–",
        }
    }
}

/// A picture of a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// The stem of its file: lower-case letters, digits, hyphens, underscores; unique within the page.
    pub name: String,
    /// The picture as one of this crate's charts wrote it.
    pub svg: String,
    /// What the picture shows and what not to conclude.
    pub caption: Vec<Span>,
}

/// Words in a line.
#[must_use]
pub fn text(words: impl Into<String>) -> Span {
    Span::Text(words.into())
}

/// Words that matter more.
#[must_use]
pub fn strong(words: impl Into<String>) -> Span {
    Span::Strong(words.into())
}

/// A spec, a flag, an id.
#[must_use]
pub fn code(words: impl Into<String>) -> Span {
    Span::Code(words.into())
}

/// Words that METHODOLOGY.md defines under a name; see [`Span::Term`].
#[must_use]
pub fn term(words: impl Into<String>, term: &'static str) -> Span {
    Span::Term { words: words.into(), term }
}

/// Words that lead elsewhere; see [`Span::Link`].
#[must_use]
pub fn link(words: impl Into<String>, href: impl Into<String>) -> Span {
    Span::Link { words: words.into(), href: href.into() }
}

impl From<Span> for Vec<Span> {
    fn from(span: Span) -> Self {
        vec![span]
    }
}

impl From<&str> for Span {
    fn from(words: &str) -> Self {
        Self::Text(words.to_owned())
    }
}

impl From<String> for Span {
    fn from(words: String) -> Self {
        Self::Text(words)
    }
}

impl Page {
    /// A page without paragraphs and sections.
    #[must_use]
    pub fn new(title: impl Into<String>, generator: impl Into<String>) -> Self {
        Self { title: title.into(), generator: generator.into(), ..Self::default() }
    }

    /// The page with one paragraph more below its title.
    #[must_use]
    pub fn lead(mut self, spans: impl Into<Vec<Span>>) -> Self {
        self.lead.push(spans.into());
        self
    }

    /// The page with one section more at its end.
    #[must_use]
    pub fn section(mut self, section: Section) -> Self {
        self.sections.push(section);
        self
    }
}

impl Section {
    /// A section without blocks.
    #[must_use]
    pub fn new(id: impl Into<String>, heading: impl Into<String>) -> Self {
        Self { id: id.into(), heading: heading.into(), blocks: Vec::new() }
    }

    /// The section with one block more at its end.
    #[must_use]
    pub fn block(mut self, block: Block) -> Self {
        self.blocks.push(block);
        self
    }

    /// The section with one paragraph more at its end.
    #[must_use]
    pub fn paragraph(self, spans: impl Into<Vec<Span>>) -> Self {
        self.block(Block::paragraph(spans))
    }
}

impl Block {
    /// Running text.
    #[must_use]
    pub fn paragraph(spans: impl Into<Vec<Span>>) -> Self {
        Self::Paragraph(spans.into())
    }

    /// The answer to the page's question.
    #[must_use]
    pub fn answer(heading: impl Into<String>, blocks: impl Into<Vec<Self>>) -> Self {
        Self::Callout { kind: CalloutKind::Answer, heading: heading.into(), blocks: blocks.into() }
    }

    /// What makes a conclusion unsafe.
    #[must_use]
    pub fn warning(heading: impl Into<String>, blocks: impl Into<Vec<Self>>) -> Self {
        Self::Callout { kind: CalloutKind::Warning, heading: heading.into(), blocks: blocks.into() }
    }

    /// What helps to read what follows.
    #[must_use]
    pub fn note(heading: impl Into<String>, blocks: impl Into<Vec<Self>>) -> Self {
        Self::Callout { kind: CalloutKind::Note, heading: heading.into(), blocks: blocks.into() }
    }

    /// A heading within the section.
    #[must_use]
    pub fn subheading(words: impl Into<String>) -> Self {
        Self::Subheading(words.into())
    }

    /// A command line to copy.
    #[must_use]
    pub fn command(line: impl Into<String>) -> Self {
        Self::Command(line.into())
    }

    /// What only some readers want.
    #[must_use]
    pub fn details(summary: impl Into<String>, blocks: impl Into<Vec<Self>>) -> Self {
        Self::Details { summary: summary.into(), blocks: blocks.into() }
    }

    /// A picture with its caption.
    #[must_use]
    pub fn figure(name: impl Into<String>, svg: impl Into<String>, caption: impl Into<Vec<Span>>) -> Self {
        Self::Figure(Figure { name: name.into(), svg: svg.into(), caption: caption.into() })
    }
}

impl From<PageTable> for Block {
    fn from(table: PageTable) -> Self {
        Self::Table(table)
    }
}

impl PageTable {
    /// A table without rows.
    #[must_use]
    pub fn new(caption: impl Into<String>, columns: impl Into<Vec<Column>>) -> Self {
        Self { caption: caption.into(), columns: columns.into(), rows: Vec::new(), footnotes: Vec::new() }
    }

    /// Adds a row, one cell for each column.
    pub fn row(&mut self, cells: impl Into<Vec<Cell>>) {
        self.rows.push(cells.into());
    }

    /// The number of a footnote, which is added unless the table has it already.
    pub fn footnote(&mut self, spans: impl Into<Vec<Span>>) -> usize {
        let spans = spans.into();
        match self.footnotes.iter().position(|known| *known == spans) {
            Some(known) => known + 1,
            None => {
                self.footnotes.push(spans);
                self.footnotes.len()
            }
        }
    }
}

impl Column {
    /// A column of words.
    #[must_use]
    pub fn text(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), term: None, numeric: false }
    }

    /// A column of numbers.
    #[must_use]
    pub fn number(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), term: None, numeric: true }
    }

    /// The column with the definition of what it shows.
    #[must_use]
    pub const fn term(mut self, term: &'static str) -> Self {
        self.term = Some(term);
        self
    }
}

impl Cell {
    /// A cell of words.
    #[must_use]
    pub fn text(words: impl Into<String>) -> Self {
        Self::spans(text(words))
    }

    /// A cell of a spec, a flag or an id.
    #[must_use]
    pub fn code(words: impl Into<String>) -> Self {
        Self::spans(code(words))
    }

    /// A cell of several pieces.
    #[must_use]
    pub fn spans(spans: impl Into<Vec<Span>>) -> Self {
        Self { spans: spans.into(), ..Self::default() }
    }

    /// A number as it is shown, and as it is sorted.
    #[must_use]
    pub fn number(shown: impl Into<String>, value: f64) -> Self {
        Self { sort: Some(value), ..Self::text(shown) }
    }

    /// A cell for what does not exist; say why in a footnote or in the second line.
    #[must_use]
    pub fn not_applicable() -> Self {
        Self { mark: Some(Mark::NotApplicable), ..Self::default() }
    }

    /// The cell with a judgement.
    #[must_use]
    pub const fn marked(mut self, mark: Mark) -> Self {
        self.mark = Some(mark);
        self
    }

    /// The cell, its requirement met.
    #[must_use]
    pub const fn met(self) -> Self {
        self.marked(Mark::Met)
    }

    /// The cell, its requirement not met.
    #[must_use]
    pub const fn not_met(self) -> Self {
        self.marked(Mark::NotMet)
    }

    /// The cell, its requirement not decided by the evidence.
    #[must_use]
    pub const fn uncertain(self) -> Self {
        self.marked(Mark::Uncertain)
    }

    /// The cell with a smaller second line.
    #[must_use]
    pub fn below(mut self, spans: impl Into<Vec<Span>>) -> Self {
        self.below = spans.into();
        self
    }

    /// The cell, sorted by a number in place of its words.
    #[must_use]
    pub const fn sorted_by(mut self, value: f64) -> Self {
        self.sort = Some(value);
        self
    }

    /// The cell with a reference to a footnote of its table; see [`PageTable::footnote`].
    #[must_use]
    pub fn footnote(mut self, number: usize) -> Self {
        self.notes.push(number);
        self
    }
}

//! Writes a page with every kind of block, as HTML or Markdown: what the tests and the browser check read.
//!
//! `cargo run -p shardlab-report --example page -- html > page.html`

use shardlab_report::page::{
    Block, Cell, Column, Page, PageTable, Section, code, link, page_html, page_markdown, strong, term, text,
};

/// A picture that `shardlab compare --chart` has drawn.
const PICTURE: &str = include_str!("../../../reports/default-load.svg");

/// What somebody who wants to harm a reader calls a node.
pub const EVIL: &str =
    "<script>alert(\"1\")</script>&amp;'\u{1b}[31m\u{202e}\0\u{ffff}]]>--><!--\r\n=1+1|`x`*_[a](javascript:b)@all #1";

/// The page.
#[must_use]
pub fn sample() -> Page {
    Page::new("Which scheme for twelve nodes?", "shardlab 0.1.0")
        .lead([
            text("A sample of every kind of block, with invented numbers. The lead says "),
            strong("what was asked"),
            text("."),
        ])
        .lead([text("A second paragraph names the key set: "), code("sample"), text(".")])
        .section(answer())
        .section(balance())
        .section(pictures())
        .section(untrusted())
}

fn answer() -> Section {
    let why = [
        Block::paragraph([
            text("Of three candidates it alone meets every requirement: its "),
            term("peak", "peak_to_average"),
            text(" is below 1.10, and adding a node "),
            term("moves", "moved"),
            text(" only what must move. See "),
            link("the balance", "#balance"),
            text(" and "),
            link("the project", "https://example.org/?a=1&b=2"),
            text("."),
        ]),
        Block::List(vec![
            vec![strong("Even: "), text("1.013 times the mean.")],
            vec![strong("Cheap to grow: "), text("9.27 % move.")],
        ]),
    ];
    Section::new("answer", "Answer")
        .block(Block::answer("Use rendezvous for these keys", why))
        .block(Block::warning(
            "One key set is one draw",
            [Block::paragraph(text("Measure your own keys before you decide."))],
        ))
        .block(Block::note("How to read this page", [Block::paragraph(text("Dotted words are defined at the end."))]))
        .block(Block::Facts(vec![
            ("Keys".to_owned(), vec![text("50,000 from "), code("sample")]),
            ("Digest".to_owned(), vec![code("2eb81e9d9dac7a42")]),
            ("Nodes".to_owned(), vec![text("12 of equal weight")]),
        ]))
}

fn balance() -> Section {
    let mut table = PageTable::new(
        "Load and movement on 12 nodes; 4167 keys per node",
        [
            Column::text("scheme"),
            Column::number("peak/avg").term("peak_to_average"),
            Column::number("add one").term("moved"),
            Column::number("lookup, ns").term("lookup_ns"),
            Column::text("verdict"),
            Column::text("what it cannot do"),
        ],
    );
    let none = table.footnote(text("Only the last node can leave."));
    let noisy = table.footnote([text("The machine was too noisy: see "), term("noise", "noise_fraction"), text(".")]);
    table.row([
        Cell::code("rendezvous"),
        Cell::number("1.013", 1.013).met().below(text("chance: 1.010 to 1.031")),
        Cell::number("9.27 %", 0.0927).met(),
        Cell::number("41.0", 41.0).below(text("40.2 to 43.9")),
        Cell::text("chance").met(),
        Cell::text("nothing"),
    ]);
    table.row([
        Cell::code("ring:vnodes=160"),
        Cell::number("1.148", 1.148).not_met(),
        Cell::number("8.69 %", 0.0869).uncertain(),
        Cell::number("9.8", 9.8),
        Cell::text("structural").not_met(),
        Cell::text("a peak below 1.10 without many times more virtual nodes, which cost memory and building time"),
    ]);
    table.row([
        Cell::code("modulo"),
        Cell::number("1.026", 1.026).met(),
        Cell::number("90.77 %", 0.9077).not_met(),
        Cell::not_applicable().footnote(noisy),
        Cell::text("chance").met(),
        Cell::text("lose a node in the middle").footnote(none),
    ]);
    let mut copies = PageTable::new("A table of one row", [Column::text("copies"), Column::number("cv")]);
    copies.columns[1].term = Some("What-if studies and paths/cv");
    copies.row([Cell::text("3"), Cell::number("0.0021", 0.0021)]);
    Section::new("balance", "Balance and movement")
        .paragraph([
            text("No number stands alone. The "),
            term("noise floor", "noise_floor_cv"),
            text(" says how uneven a fair scheme would look."),
        ])
        .block(table.into())
        .block(Block::subheading("Copies"))
        .block(copies.into())
        .block(Block::details(
            "How this was measured",
            [
                Block::paragraph(text("Every scheme placed the same keys.")),
                Block::command(
                    "shardlab compare --nodes 12 --scheme rendezvous --scheme ring:vnodes=160 --scheme modulo",
                ),
            ],
        ))
}

fn pictures() -> Section {
    Section::new("pictures", "Pictures")
        .block(Block::figure(
            "load",
            PICTURE,
            [text("Load of the fullest and the emptiest node, beside "), strong("chance"), text(".")],
        ))
        .block(Block::details("The same again", [Block::figure("load-again", PICTURE, Vec::new())]))
}

fn untrusted() -> Section {
    let mut table = PageTable::new(EVIL, [Column::text(EVIL), Column::text(EVIL)]);
    table.footnote(text(EVIL));
    table.row([Cell::text(EVIL).footnote(1), Cell::code(EVIL).below(text(EVIL))]);
    Section::new("untrusted", EVIL)
        .paragraph([text(EVIL), strong(EVIL), code(EVIL), term(EVIL, "cv"), link(EVIL, "study.json")])
        .block(Block::List(vec![vec![text("- 1. # a list that is none")]]))
        .block(Block::command(EVIL))
        .block(Block::Facts(vec![(EVIL.to_owned(), text(EVIL).into())]))
        .block(Block::subheading(EVIL))
        .block(Block::note(EVIL, [Block::details(EVIL, [Block::paragraph(text(EVIL)), table.into()])]))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let page = sample();
    let text = match std::env::args().nth(1).as_deref() {
        Some("html") => page_html(&page)?,
        Some("markdown") => page_markdown(&page, "figures")?,
        _ => return Err("say html or markdown".into()),
    };
    print!("{text}");
    Ok(())
}

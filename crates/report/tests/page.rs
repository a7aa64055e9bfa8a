//! Pages: a known one as a snapshot in both forms, and whatever text there is, well-formed documents in
//! which the text is nothing but text.
#![allow(clippy::unwrap_used, reason = "a test ends where something is missing")]

use base64::Engine as _;
use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag};
use roxmltree::{Document, Node, ParsingOptions};
use sha2::{Digest as _, Sha256};
use shardlab_report::page::{
    Block, Cell, Column, Page, PageTable, Section, code, link, page_html, page_markdown, strong, term, text,
};

#[path = "../examples/page.rs"]
#[allow(dead_code, unreachable_pub, reason = "as an example it is a program")]
mod example;

use example::{EVIL, sample};

fn parse(html: &str) -> Document<'_> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(html, options).unwrap()
}

/// What stands between two tags, replaced by a word.
fn without(text: &str, from: &str, to: &str, word: &str) -> String {
    let mut short = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(from) {
        let (_, behind) = after.split_once(to).unwrap();
        short.push_str(before);
        short.push_str(word);
        rest = behind;
    }
    short + rest
}

#[test]
fn every_kind_of_block_is_written_in_html() {
    let html = page_html(&sample()).unwrap();
    let html = without(&html, "<style>", "</style>", "[style]");
    let html = without(&html, "<script>", "</script>", "[script]");
    let html = without(&html, "<svg ", "</svg>", "[picture]");
    insta::assert_snapshot!(without(&html, "sha256-", "&#39;", "[hash]&#39;"));
}

#[test]
fn every_kind_of_block_is_written_in_markdown() {
    insta::assert_snapshot!(page_markdown(&sample(), "figures").unwrap());
}

#[test]
fn a_page_needs_nothing_from_elsewhere_and_its_policy_allows_just_that() {
    let html = page_html(&sample()).unwrap();
    let page = parse(&html);
    let of = |name: &'static str| page.descendants().filter(move |node| node.has_tag_name(name));
    let policy = of("meta").find(|node| node.attribute("http-equiv") == Some("Content-Security-Policy")).unwrap();
    let policy = policy.attribute("content").unwrap();
    assert!(policy.starts_with("default-src 'none';"), "{policy}");
    for (tag, directive) in [("style", "style-src"), ("script", "script-src")] {
        // The text as the browser hashes it: all that stands between the tags.
        let (_, after) = html.split_once(&format!("<{tag}>")).unwrap();
        let (content, _) = after.split_once(&format!("</{tag}>")).unwrap();
        let hash = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(content));
        assert!(policy.contains(&format!("{directive} 'sha256-{hash}'")), "{tag}: {policy}");
        assert_eq!(of(tag).count(), 1);
    }
    for node in page.descendants().filter(Node::is_element) {
        for attribute in node.attributes() {
            let name = attribute.name();
            assert!(!name.starts_with("on") && name != "style" && name != "src", "{name}");
        }
    }
}

#[test]
fn names_are_unique_and_links_within_the_page_lead_somewhere() {
    let html = page_html(&sample()).unwrap();
    let page = parse(&html);
    let mut ids: Vec<&str> = page.descendants().filter_map(|node| node.attribute("id")).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all);
    for node in page.descendants() {
        if let Some(target) = node.attribute("href").and_then(|href| href.strip_prefix('#')) {
            assert!(ids.contains(&target), "{target}");
        }
        for name in ["aria-labelledby", "aria-describedby"] {
            assert!(node.attribute(name).is_none_or(|id| ids.contains(&id)), "{name}");
        }
    }
}

#[test]
fn headings_descend_one_level_at_a_time() {
    let html = page_html(&sample()).unwrap();
    let page = parse(&html);
    let level = |node: Node<'_, '_>| node.tag_name().name().strip_prefix('h').and_then(|rest| rest.parse::<u8>().ok());
    let levels: Vec<u8> = page.descendants().filter_map(level).collect();
    assert_eq!(levels.iter().filter(|&&level| level == 1).count(), 1);
    assert_eq!(levels[0], 1);
    assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{levels:?}");
}

#[test]
fn only_definitions_that_are_used_are_listed() {
    let html = page_html(&sample()).unwrap();
    let page = parse(&html);
    let listed: Vec<&str> =
        page.descendants().filter_map(|node| node.attribute("id")).filter(|id| id.starts_with("term-")).collect();
    assert_eq!(
        listed,
        [
            "term-peak_to_average",
            "term-cv",
            "term-noise_floor_cv",
            "term-moved",
            "term-what-if-studies-and-paths-peak_to_average",
            "term-lookup_ns",
            "term-noise_fraction"
        ]
    );
    let bare = Page::new("t", "g").section(Section::new("a", "A"));
    assert!(!page_html(&bare).unwrap().contains("Definitions"));
    assert!(!page_markdown(&bare, "").unwrap().contains("Definitions"));
}

/// A page with a text in every place where one can stand.
fn filled(words: &str) -> Page {
    let mut table = PageTable::new(words, [Column::text(words), Column::number(words).term("cv")]);
    table.footnote(text(words));
    table.row([Cell::text(words).below(text(words)), Cell::number(words, 1.5).met().footnote(1)]);
    table.row([Cell::code(words), Cell::spans([strong(words), term(words, "moved"), link(words, "a.json")])]);
    let line = || vec![text(words), strong(words), code(words), term(words, "cv"), link(words, "https://example.org/")];
    let inner = || [Block::paragraph(text(words)), Block::command(words)];
    Page::new(words, words)
        .lead(text(words))
        .section(
            Section::new("a", words)
                .paragraph(text(words))
                .paragraph(line())
                .block(Block::List(vec![line(), text(words).into()]))
                .block(Block::answer(words, inner()))
                .block(table.into())
                .block(Block::command(words))
                .block(Block::Listing { language: "toml", lines: vec![words.to_owned(); 2] })
                .block(Block::Facts(vec![(words.to_owned(), line())]))
                .block(Block::subheading(words))
                .block(Block::details(words, inner())),
        )
        .section(Section::new("b", words))
}

/// The elements of a page with their attributes' names, in order. A cell has a class where its text is long.
fn skeleton(page: &Document<'_>) -> Vec<String> {
    let shape = |node: Node<'_, '_>| {
        let cell = node.has_tag_name("td") || node.has_tag_name("th");
        let names: Vec<&str> =
            node.attributes().map(|attribute| attribute.name()).filter(|name| !(cell && *name == "class")).collect();
        format!("{} {}", node.tag_name().name(), names.join(" "))
    };
    page.descendants().filter(Node::is_element).map(shape).collect()
}

/// The texts of a page, apart from layout, style and script.
fn texts(page: &Document<'_>) -> Vec<String> {
    page.descendants()
        .filter(|node| {
            node.is_text()
                && node.parent().is_some_and(|parent| !parent.has_tag_name("style") && !parent.has_tag_name("script"))
        })
        .filter_map(|node| node.text().filter(|text| !text.trim().is_empty()).map(str::to_owned))
        .collect()
}

/// Text as it has to be seen.
fn shown(words: &str) -> String {
    shardlab_report::for_terminal(words).replace('\u{fffe}', "\\u{fffe}").replace('\u{ffff}', "\\u{ffff}")
}

fn holds_in_html(words: &str) {
    // Where a spec may break is layout; in a text these letters would be escaped.
    let unbroken = |words: &str| page_html(&filled(words)).unwrap().replace("<wbr/>", "");
    let (html, plain) = (unbroken(words), unbroken("Q7Q"));
    let (page, plain) = (parse(&html), parse(&plain));
    assert_eq!(skeleton(&page), skeleton(&plain));
    // A text of blanks alone is layout for the one who reads it, as for `texts`.
    if !words.trim().is_empty() {
        let expected: Vec<String> = texts(&plain).iter().map(|text| text.replace("Q7Q", &shown(words))).collect();
        assert_eq!(texts(&page), expected);
    }
    let hidden = |letter: char| {
        letter.is_control() && letter != '\n' || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{200b}'..='\u{200f}')
    };
    assert!(!html.contains(hidden));
}

/// What Markdown reads, apart from the words: events in order, and the words beside.
fn events(markdown: &str) -> (Vec<String>, String) {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_MATH
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_GFM
        | Options::ENABLE_TASKLISTS;
    let mut structure = Vec::new();
    let mut words = String::new();
    for event in Parser::new_ext(markdown, options) {
        match event {
            Event::Text(text) => words.push_str(&text),
            // The empty comment that keeps GitHub from calling people.
            Event::InlineHtml(html) if &*html == "<!-- -->" => {}
            // Code and strong words have two forms each.
            Event::Code(text) => {
                structure.push("<code>".to_owned());
                words.push_str(&text);
                structure.push("</code>".to_owned());
            }
            Event::InlineHtml(html) => structure.push(html.to_string()),
            Event::Start(Tag::Strong) => structure.push("<strong>".to_owned()),
            Event::End(pulldown_cmark::TagEnd::Strong) => structure.push("</strong>".to_owned()),
            Event::Html(html) => {
                let words_there = without(&html, "<summary>", "</summary>", "[summary]");
                structure.push(words_there);
            }
            other => structure.push(format!("{other:?}")),
        }
    }
    (structure, words)
}

fn holds_in_markdown(words: &str) {
    let (markdown, plain) = (page_markdown(&filled(words), "f").unwrap(), page_markdown(&filled("Q7Q"), "f").unwrap());
    let ((structure, read), (expected, plain)) = (events(&markdown), events(&plain));
    assert_eq!(structure, expected, "{markdown}");
    // Blanks at the ends of lines mean nothing in Markdown.
    let dense = |text: &str| text.split_whitespace().collect::<String>();
    assert_eq!(dense(&read), dense(&plain.replace("Q7Q", &shown(words))), "{markdown}");
}

#[test]
fn what_is_meant_to_harm_is_text() {
    for words in [
        EVIL,
        "</title></style></script><img src=x onerror=alert(1)>",
        "{{ 7 * 7 }}{% for x in y %}{# c #}",
        "- a",
        "1. a",
        "# a #",
        "===",
        "---",
        "***",
        "```",
        "~~~",
        "> a",
        "| a | b |",
        "a\\",
        "&lt;&#60;&amp;",
        "    code",
        "a  ",
        "!",
        "[x]: http://example.org",
        "[^1]",
        "<!-- -->",
        "$a$ ~b~ ==c==",
        "a@b.example www.example.org http://example.org",
        ":100:",
        "\u{feff}\u{200f}\u{2066}שלום",
    ] {
        holds_in_html(words);
        holds_in_markdown(words);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_text_is_nothing_but_text_in_html(words in "\\PC{1,24}|.{1,12}|[<>&\"'{}%#=/a-c \\-]{1,24}") {
        holds_in_html(&words);
    }

    #[test]
    fn any_text_is_nothing_but_text_in_markdown(words in "\\PC{1,24}|.{1,12}|[-+*_~`<>&\\\\\\[\\](){}!#|=:.@0-9a-c\"' ]{1,24}") {
        prop_assume!(!words.trim().is_empty());
        holds_in_markdown(&words);
    }

    #[test]
    fn any_link_is_refused_or_leads_where_it_says(href in "[a-zA-Z:/.#?&'\"<>() \\\\]{0,16}|.{0,8}|(javascript|data|https|http)://?[a-z]{0,4}") {
        let page = Page::new("t", "g").lead(link("words", href.clone()));
        match page_html(&page) {
            Ok(html) => {
                let page = parse(&html);
                let found = page.descendants().find(|node| node.text() == Some("words")).unwrap();
                prop_assert_eq!(found.attribute("href"), Some(href.as_str()));
                let scheme = href.split(['/', '?', '#']).next().unwrap().contains(':');
                prop_assert!(href.starts_with("https://") || !scheme && !href.starts_with('/'));
            }
            Err(error) => prop_assert!(error.to_string().contains("link"), "{}", error),
        }
    }
}

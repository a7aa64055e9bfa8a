//! Pictures, read strictly and written anew, so that nothing gets into a page but what a chart of this
//! crate is made of.

use std::fmt::Write as _;

use roxmltree::{Document, Node, NodeType};

const SVG: &str = "http://www.w3.org/2000/svg";

/// What charts are made of. The style sheet is dropped: the page has it once for all its pictures.
const ELEMENTS: &[&str] =
    &["svg", "g", "title", "desc", "rect", "line", "polyline", "polygon", "path", "circle", "text"];

/// What their elements may carry. None of these can hold a link, a name or a script.
const ATTRIBUTES: &[&str] = &[
    "viewBox",
    "x",
    "y",
    "x1",
    "y1",
    "x2",
    "y2",
    "cx",
    "cy",
    "r",
    "dx",
    "dy",
    "width",
    "height",
    "points",
    "d",
    "fill",
    "stroke",
    "stroke-width",
    "stroke-dasharray",
    "opacity",
    "fill-opacity",
    "stroke-opacity",
    "text-anchor",
    "font-family",
    "font-size",
    "font-style",
    "font-weight",
    "transform",
];

/// A picture that can stand within a page.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Picture {
    /// The statement of the picture in words, which every chart has.
    pub(super) title: String,
    /// What it shows, for those who cannot see it.
    pub(super) description: String,
    /// The markup, with names of its own for title and description.
    pub(super) markup: String,
}

/// Reads a picture and writes it anew for a page. The error says what does not belong there.
pub(super) fn picture(name: &str, svg: &str) -> Result<Picture, String> {
    let document = Document::parse(svg).map_err(|error| format!("it is no well-formed SVG: {error}"))?;
    let root = document.root_element();
    if root.tag_name().name() != "svg" || root.tag_name().namespace() != Some(SVG) {
        return Err("its root is no svg element".to_owned());
    }
    let words = |tag: &str| {
        let found = root.children().find(|child| child.tag_name().name() == tag).and_then(|child| child.text());
        found.map(str::to_owned).filter(|words| !words.trim().is_empty())
    };
    let title = words("title").ok_or("it has no title that says what it shows")?;
    let description = words("desc").unwrap_or_default();
    if root.attribute("viewBox").is_none() {
        return Err("it has no viewBox, so that it cannot be scaled".to_owned());
    }
    let mut markup = String::with_capacity(svg.len());
    write(root, name, &mut markup)?;
    Ok(Picture { title, description, markup })
}

fn write(node: Node<'_, '_>, name: &str, markup: &mut String) -> Result<(), String> {
    let tag = node.tag_name().name();
    if node.tag_name().namespace() != Some(SVG) || !ELEMENTS.contains(&tag) {
        return Err(format!("a chart has no element {tag:?}"));
    }
    let is_root = node.parent().is_some_and(|parent| parent.is_root());
    // Writing to a string cannot fail.
    let _ = write!(markup, "<{tag}");
    if is_root {
        let _ = write!(
            markup,
            " xmlns=\"{SVG}\" class=\"shardlab-figure\" role=\"img\" aria-labelledby=\"figure-{name}-title\" aria-describedby=\"figure-{name}-desc\""
        );
    } else if matches!(tag, "title" | "desc") {
        let _ = write!(markup, " id=\"figure-{name}-{tag}\"");
    }
    for attribute in node.attributes() {
        let known = attribute.name();
        if is_root && matches!(known, "role" | "class" | "width" | "height") {
            // The page says these itself.
        } else if attribute.namespace().is_none() && ATTRIBUTES.contains(&known) {
            let value = attribute.value();
            if value.contains("url(") {
                return Err(format!("its {known} refers to something else"));
            }
            let _ = write!(markup, " {known}=\"{}\"", super::html::escaped(value));
        } else {
            return Err(format!("a chart has no attribute {known:?}"));
        }
    }
    markup.push('>');
    for child in node.children() {
        match child.node_type() {
            NodeType::Element if child.tag_name().name() == "style" => {}
            NodeType::Element => write(child, name, markup)?,
            NodeType::Text => {
                let words = child.text().unwrap_or_default();
                if matches!(tag, "title" | "desc" | "text") {
                    markup.push_str(&super::html::escaped(words.trim()));
                } else if words.contains('\n') {
                    // Between elements it is layout.
                    markup.push('\n');
                }
            }
            NodeType::Root | NodeType::Comment | NodeType::PI => {}
        }
    }
    if is_root && !node.children().any(|child| child.tag_name().name() == "desc") {
        let _ = write!(markup, "<desc id=\"figure-{name}-desc\"></desc>");
    }
    let _ = write!(markup, "</{tag}>");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_chart_is_made_of_is_refused() {
        for (bad, said) in [
            ("<script>alert(1)</script>", "element \"script\""),
            ("<rect onclick=\"alert(1)\"/>", "attribute \"onclick\""),
            ("<rect style=\"fill:red\"/>", "attribute \"style\""),
            ("<image href=\"https://example.org/\"/>", "element \"image\""),
            ("<rect fill=\"url(https://example.org/)\"/>", "refers to something else"),
            ("<foreignObject/>", "element \"foreignObject\""),
            ("<g xmlns=\"http://www.w3.org/1999/xhtml\"/>", "element \"g\""),
        ] {
            let svg = format!("<svg xmlns=\"{SVG}\" viewBox=\"0 0 1 1\"><title>t</title>{bad}</svg>");
            let error = picture("a", &svg).expect_err(bad);
            assert!(error.contains(said), "{bad}: {error}");
        }
        assert!(picture("a", "<svg").expect_err("it is cut off").contains("well-formed"));
        let untitled = format!("<svg xmlns=\"{SVG}\" viewBox=\"0 0 1 1\"/>");
        assert!(picture("a", &untitled).expect_err("nothing says what it shows").contains("title"));
    }

    #[test]
    fn a_picture_keeps_its_words_and_gets_its_own_names() {
        let svg = format!(
            "<svg width=\"8\" height=\"4\" viewBox=\"0 0 8 4\" xmlns=\"{SVG}\" role=\"img\" class=\"x\">\n<title>a &lt; b</title>\n\
             <desc>d</desc>\n<style>x</style>\n<text x=\"1\" fill=\"#111111\">\n&amp;c\n</text></svg>"
        );
        let read = picture("load", &svg).expect("it is a chart");
        assert_eq!((read.title.as_str(), read.description.as_str()), ("a < b", "d"));
        assert!(read.markup.contains("<title id=\"figure-load-title\">a &lt; b</title>"), "{}", read.markup);
        assert!(read.markup.contains("<text x=\"1\" fill=\"#111111\">&amp;c</text>"), "{}", read.markup);
        assert!(!read.markup.contains("style") && !read.markup.contains("width"), "{}", read.markup);
    }
}

use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::palette::{Role, style_sheet};
use super::words::{cut, harmless, lines};

/// A chart that could not be drawn.
#[derive(Debug, thiserror::Error)]
#[error("cannot draw the chart: {0}")]
pub struct ChartError(String);

/// How wide every picture is, in its own pixels.
pub(super) const WIDTH: f64 = 800.0;

/// What stays free at the edges.
pub(super) const MARGIN: f64 = 14.0;

/// The size of text in pixels.
pub(super) const TEXT: f64 = 12.5;

/// The size of a title.
const TITLE: f64 = 17.0;

/// Plotters takes another measure of text and divides it by this.
const PLOTTERS_POINT: f64 = 1.24;

/// No title needs more, and none may push the picture away.
const TITLE_LINES: usize = 3;

/// On which side of its place a text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// It begins there.
    Start,
    /// It has its middle there.
    Middle,
    /// It ends there.
    End,
}

/// The form of a mark, which tells lines apart for those who cannot by colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Disc,
    Square,
    Up,
    Diamond,
    Down,
    Ring,
    Cross,
}

impl Shape {
    pub(super) const ALL: [Self; 7] =
        [Self::Disc, Self::Square, Self::Up, Self::Diamond, Self::Down, Self::Ring, Self::Cross];

    /// The corners of one with corners, as parts of its radius from its middle.
    const fn corners(self) -> &'static [(f64, f64)] {
        match self {
            Self::Square => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
            Self::Up => &[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)],
            Self::Diamond => &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)],
            Self::Down => &[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)],
            Self::Disc | Self::Ring | Self::Cross => &[],
        }
    }
}

enum Item {
    Rectangle { corners: [(f64, f64); 2], role: Role, filled: bool },
    Line { points: Vec<(f64, f64)>, role: Role, width: u32, dashed: bool },
    Dot { at: (f64, f64), radius: i32, role: Role },
    Area { corners: Vec<(f64, f64)>, role: Role },
    Text { at: (f64, f64), words: String, side: Side, role: Role, size: f64, upright: bool },
}

/// A picture in the making. Places are pixels from the top left corner.
pub(super) struct Canvas {
    title: String,
    description: String,
    items: Vec<Item>,
    /// Where the heading ends.
    pub(super) top: f64,
}

impl Canvas {
    /// A picture whose title states what was found, and below it what was asked.
    pub(super) fn new(title: &str, below: &str) -> Self {
        let title = harmless(title);
        let mut canvas = Self { title: title.clone(), description: String::new(), items: Vec::new(), top: MARGIN };
        let room = WIDTH - 2.0 * MARGIN;
        // Bold text is wider.
        for line in lines(&title, TITLE * 1.1, room, TITLE_LINES) {
            let at = (MARGIN, canvas.top + TITLE / 2.0);
            canvas.push_text(at, line, Side::Start, Role::Ink, TITLE, false);
            canvas.top += TITLE * 1.3;
        }
        canvas.describe(below);
        canvas.explain(below);
        canvas
    }

    /// Lines of explanation below the heading so far.
    pub(super) fn explain(&mut self, words: &str) {
        for line in lines(&harmless(words), TEXT, WIDTH - 2.0 * MARGIN, TITLE_LINES) {
            self.push_text((MARGIN, self.top + TEXT * 0.7), line, Side::Start, Role::Muted, TEXT, false);
            self.top += TEXT * 1.4;
        }
    }

    /// Coloured squares with their meanings, in as many lines as they need.
    pub(super) fn key(&mut self, meanings: &[(Role, &str)]) {
        let mut at = MARGIN;
        self.top += 4.0;
        for (role, words) in meanings {
            let room = 16.0 + super::words::width(words, TEXT) + 18.0;
            if at + room > WIDTH && at > MARGIN {
                at = MARGIN;
                self.top += TEXT * 1.5;
            }
            let (from, to) = ((at, self.top), (at + 12.0, self.top + 12.0));
            // What is empty is shown by its edge, since no fill as pale as a grid can be told from a pale grey.
            if *role == Role::Grid {
                self.outline(from, to, Role::Muted);
            } else {
                self.rectangle(from, to, *role);
            }
            self.text((at + 17.0, self.top + 6.0), words, Side::Start, Role::Muted);
            at += room;
        }
        self.top += TEXT * 1.6;
    }

    /// A sentence of the text that stands in for the picture.
    pub(super) fn describe(&mut self, sentence: &str) {
        let sentence = harmless(sentence);
        if !self.description.is_empty() && !sentence.is_empty() {
            self.description.push_str(". ");
        }
        self.description.push_str(&sentence);
    }

    pub(super) fn rectangle(&mut self, from: (f64, f64), to: (f64, f64), role: Role) {
        self.items.push(Item::Rectangle { corners: [from, to], role, filled: true });
    }

    pub(super) fn outline(&mut self, from: (f64, f64), to: (f64, f64), role: Role) {
        self.items.push(Item::Rectangle { corners: [from, to], role, filled: false });
    }

    pub(super) fn line(&mut self, points: impl Into<Vec<(f64, f64)>>, role: Role, width: u32) {
        self.items.push(Item::Line { points: points.into(), role, width, dashed: false });
    }

    pub(super) fn dashes(&mut self, points: impl Into<Vec<(f64, f64)>>, role: Role, width: u32) {
        self.items.push(Item::Line { points: points.into(), role, width, dashed: true });
    }

    pub(super) fn dot(&mut self, at: (f64, f64), radius: i32, role: Role) {
        self.items.push(Item::Dot { at, radius, role });
    }

    /// A mark of a line, so many pixels from its middle to its edge.
    pub(super) fn mark(&mut self, at: (f64, f64), radius: i32, shape: Shape, role: Role) {
        let by = f64::from(radius);
        match shape {
            Shape::Disc => self.dot(at, radius, role),
            Shape::Ring => {
                self.dot(at, radius, role);
                self.dot(at, radius - 2, Role::Paper);
            }
            Shape::Cross => {
                for turn in [-by, by] {
                    self.line([(at.0 - by, at.1 - turn), (at.0 + by, at.1 + turn)], role, 2);
                }
            }
            _ => {
                let corner = |(x, y): &(f64, f64)| (at.0 + x * by, at.1 + y * by);
                self.items.push(Item::Area { corners: shape.corners().iter().map(corner).collect(), role });
            }
        }
    }

    /// A line of text, its middle at the height of the place, cut where the picture ends.
    pub(super) fn text(&mut self, at: (f64, f64), words: &str, side: Side, role: Role) {
        let (before, behind) = (at.0 - 4.0, WIDTH - at.0 - 4.0);
        let room = match side {
            Side::Start => behind,
            Side::Middle => 2.0 * before.min(behind),
            Side::End => before,
        };
        self.text_in(at, words, side, role, room);
    }

    /// The same, cut to the room there is.
    pub(super) fn text_in(&mut self, at: (f64, f64), words: &str, side: Side, role: Role, room: f64) {
        self.push_text(at, cut(&harmless(words), TEXT, room), side, role, TEXT, false);
    }

    /// A text from the bottom to the top, cut to the room there is.
    pub(super) fn upright(&mut self, at: (f64, f64), words: &str, side: Side, role: Role, room: f64) {
        self.push_text(at, cut(&harmless(words), TEXT, room), side, role, TEXT, true);
    }

    fn push_text(&mut self, at: (f64, f64), words: String, side: Side, role: Role, size: f64, upright: bool) {
        self.items.push(Item::Text { at, words, side, role, size, upright });
    }

    /// The finished picture, so many pixels high.
    pub(super) fn svg(self, height: f64) -> Result<String, ChartError> {
        let mut drawn = String::new();
        self.draw(&mut drawn, height).map_err(|error| ChartError(error.to_string()))?;
        // Plotters knows no text that stands in for a picture and no style sheet.
        let (opening, rest) = drawn.split_once(">\n").ok_or_else(|| ChartError("it has no beginning".to_owned()))?;
        Ok(format!(
            "{opening} role=\"img\" class=\"shardlab-figure\">\n<title>{}</title>\n<desc>{}</desc>\n<style>\n{}</style>\n{rest}",
            markup(&self.title),
            markup(&self.description),
            style_sheet(),
        ))
    }

    fn draw(&self, drawn: &mut String, height: f64) -> Result<(), Box<dyn std::error::Error>> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "heights are positive, and a picture a million pixels high is of no use"
        )]
        let pixels = |length: f64| length.clamp(1.0, 1e6) as u32;
        let size = (pixels(WIDTH), pixels(height));
        let root: DrawingArea<SVGBackend<'_>, Shift> = SVGBackend::with_string(drawn, size).into_drawing_area();
        root.fill(&Role::Paper.colour())?;
        let area = root.apply_coord_spec(Cartesian2d::<RangedCoordf64, RangedCoordf64>::new(
            0.0..f64::from(size.0),
            0.0..f64::from(size.1),
            (0..i32::try_from(size.0)?, 0..i32::try_from(size.1)?),
        ));
        for item in &self.items {
            match item {
                Item::Rectangle { corners, role, filled } => {
                    let style = ShapeStyle { color: role.colour().to_rgba(), filled: *filled, stroke_width: 1 };
                    area.draw(&Rectangle::new(*corners, style))?;
                }
                Item::Line { points, role, width, dashed: false } => {
                    area.draw(&PathElement::new(points.clone(), role.colour().stroke_width(*width)))?;
                }
                Item::Line { points, role, width, dashed: true } => {
                    let style = role.colour().stroke_width(*width);
                    area.draw(&DashedPathElement::new(points.iter().copied(), 6, 4, style))?;
                }
                Item::Dot { at, radius, role } => {
                    area.draw(&Circle::new(*at, *radius, role.colour().filled()))?;
                }
                Item::Area { corners, role } => {
                    area.draw(&Polygon::new(corners.clone(), role.colour().filled()))?;
                }
                Item::Text { at, words, side, role, size, upright } => {
                    let place = match side {
                        Side::Start => HPos::Left,
                        Side::Middle => HPos::Center,
                        Side::End => HPos::Right,
                    };
                    let font = ("sans-serif", size * PLOTTERS_POINT).into_font();
                    let font = if *size > TEXT { font.style(FontStyle::Bold) } else { font };
                    let font = if *upright { font.transform(FontTransform::Rotate270) } else { font };
                    let colour = role.colour();
                    let style = TextStyle::from(font).color(&colour).pos(Pos::new(place, VPos::Center));
                    area.draw(&Text::new(words.as_str(), *at, style))?;
                }
            }
        }
        root.present()?;
        Ok(())
    }
}

/// For text between tags.
fn markup(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

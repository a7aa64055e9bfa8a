use shardlab_core::rows::{GrowthPoint, Scaling, SchemeGrowth, counted};

use super::canvas::{Canvas, ChartError, MARGIN, Shape, Side, TEXT, WIDTH};
use super::palette::Role;
use super::place::{Bounds, Places};
use super::scale::{Scale, apart};
use super::words::{harmless, width};
use shardlab_core::rows::{bytes, nanoseconds};

/// Where the plots begin, and how high they are at least.
const LEFT: f64 = 92.0;
const LOOKUP_HEIGHT: f64 = 380.0;
const COST_HEIGHT: f64 = 250.0;

/// The most room for labels right of the plots.
const LABELS: f64 = 250.0;

/// From the end of a line to its label: a thin line, then its mark.
const LEADER: f64 = 14.0;
const MARK: f64 = 12.0;

/// The height of a label, and of a row of the place for zero.
const ROW: f64 = TEXT * 1.36;

/// What a lookup takes against the number of nodes, as an SVG picture on two logarithmic axes: a line a
/// scheme, with its name and last value at its end. It is the time of one independent lookup in a batch,
/// which is the inverse of throughput.
///
/// # Errors
/// The picture cannot be drawn.
pub fn lookup_growth_chart(scaling: &Scaling) -> Result<String, ChartError> {
    let lines = lines(scaling, |point| Some(point.many_ns).filter(|ns| *ns > 0.0), nanoseconds);
    let title = at_the_end(scaling, |most, ends| {
        let ns = |end: &End<'_>| end.1.many_ns;
        let (least, largest) = extremes(ends, ns)?;
        let takes = if ends.len() == 1 {
            format!("{} ({})", nanoseconds(ns(largest)), largest.0.scheme)
        } else {
            let [from, to] = [least, largest].map(|end| format!("{} ({})", nanoseconds(ns(end)), end.0.scheme));
            format!("from {from} to {to}")
        };
        Some(format!("At {most} a lookup takes {takes}"))
    });
    let keys = counted(scaling.keys, "random key");
    let canvas = Canvas::new(
        &title,
        &asked(scaling, &format!("Time of one independent lookup in batches on one thread, {keys} in turn")),
    );
    let panel = Panel { words: "time per lookup (log scale)", height: LOOKUP_HEIGHT, round: nanoseconds, lines };
    draw(canvas, &[panel], &notes(scaling))
}

/// What a table costs against the number of nodes, as an SVG picture: bytes of heap above and the time of
/// one build below, on logarithmic axes, a line a scheme. Schemes without a table have a place of their own
/// below the axis of bytes, which has no zero.
///
/// # Errors
/// The picture cannot be drawn.
pub fn cost_growth_chart(scaling: &Scaling) -> Result<String, ChartError> {
    let title = at_the_end(scaling, |most, ends| {
        let (least, largest) = extremes(ends, |end| end.1.heap_bytes as f64)?;
        let (_, slowest) = extremes(ends, |end| end.1.build_ns)?;
        let heap = |end: &End<'_>| bytes(end.1.heap_bytes);
        let alike = ends.iter().filter(|end| end.1.heap_bytes == least.1.heap_bytes);
        let takes = if least.1.heap_bytes == largest.1.heap_bytes {
            format!("{} in every scheme", heap(largest))
        } else {
            format!("from {} ({}) to {} ({})", heap(least), listed(alike), heap(largest), largest.0.scheme)
        };
        let built = format!("building takes up to {} ({})", nanoseconds(slowest.1.build_ns), slowest.0.scheme);
        Some(format!("At {most} the table takes {takes}, and {built}"))
    });
    let canvas = Canvas::new(&title, &asked(scaling, "Bytes of heap, and the time of the first build"));
    let heap = lines(scaling, |point| Some(point.heap_bytes as f64), heap_words);
    let build = lines(scaling, |point| Some(point.build_ns).filter(|ns| *ns > 0.0), nanoseconds);
    let panels = [
        Panel { words: "bytes of heap (log scale)", height: COST_HEIGHT, round: heap_words, lines: heap },
        Panel { words: "time of a build (log scale)", height: COST_HEIGHT, round: nanoseconds, lines: build },
    ];
    draw(canvas, &panels, &notes(scaling))
}

/// Bytes that were an integer before they were put on an axis.
fn heap_words(value: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative, and what is too large is shown as the largest"
    )]
    bytes(value.round() as u64)
}

/// A scheme and the last of its points.
type End<'a> = (&'a SchemeGrowth, &'a GrowthPoint);

/// What is found at the largest number of nodes that any scheme reached, with those that reached it.
fn at_the_end(scaling: &Scaling, say: impl Fn(&str, &[End<'_>]) -> Option<String>) -> String {
    let ends: Vec<End<'_>> = scaling.schemes.iter().filter_map(|growth| Some((growth, growth.sizes.last()?))).collect();
    let most = ends.iter().map(|(_, point)| point.nodes).max().unwrap_or_default();
    let there: Vec<End<'_>> = ends.iter().copied().filter(|(_, point)| point.nodes == most).collect();
    let Some(found) = say(&counted(most, "node"), &there) else { return "Nothing was measured".to_owned() };
    let (all, early) = (scaling.schemes.len(), scaling.schemes.len() - there.len());
    match early {
        0 => found,
        1 => format!("{found}; 1 of {all} schemes stops before"),
        _ => format!("{found}; {early} of {all} schemes stop before"),
    }
}

fn extremes<'a, 'b>(ends: &'a [End<'b>], value: impl Fn(&End<'b>) -> f64) -> Option<(&'a End<'b>, &'a End<'b>)> {
    let order = |a: &&End<'b>, b: &&End<'b>| value(a).total_cmp(&value(b));
    // The first of several that are alike.
    Some((ends.iter().min_by(order)?, ends.iter().rev().max_by(order)?))
}

/// Names of schemes, where they are few.
fn listed<'a, 'b: 'a>(ends: impl Iterator<Item = &'a End<'b>> + Clone) -> String {
    match ends.clone().count() {
        count @ 4.. => format!("{count} schemes"),
        _ => ends.map(|(growth, _)| growth.scheme.as_str()).collect::<Vec<_>>().join(", "),
    }
}

fn asked(scaling: &Scaling, what: &str) -> String {
    let on = scaling.measured_on.as_ref().map_or_else(String::new, |on| format!("; {on}"));
    format!("{what}{on}")
}

/// What must be known to read the lines: why some stop, and which tables are others at their end.
fn notes(scaling: &Scaling) -> Vec<String> {
    let mut notes = Vec::new();
    for growth in &scaling.schemes {
        if let Some(last) = growth.sizes.last().filter(|last| last.spec != growth.scheme) {
            notes.push(format!("The table of {} grows with its nodes; at the end it is {}.", growth.scheme, last.spec));
        }
    }
    let mut reasons: Vec<&str> = scaling.schemes.iter().filter_map(|growth| growth.stops.as_deref()).collect();
    // Once for all that stop for one reason, which as a rule are schemes of one kind.
    reasons.dedup();
    for reason in reasons {
        let stopped = scaling.schemes.iter().filter(|growth| growth.stops.as_deref() == Some(reason));
        let names: Vec<&str> = stopped.map(|growth| growth.scheme.as_str()).collect();
        let verb = if names.len() == 1 { "stops" } else { "stop" };
        notes.push(format!("{} {verb} {reason}.", names.join(", ")));
    }
    notes
}

/// One scheme in one panel.
struct Line {
    name: String,
    points: Vec<(f64, f64)>,
    colour: Role,
    shape: Shape,
    /// The value at the end, in words.
    last: String,
}

impl Line {
    /// Whether its end is where the axis ends.
    fn reaches(&self, most: f64) -> bool {
        self.points.last().is_some_and(|(nodes, _)| *nodes >= most)
    }

    fn label(&self, most: f64) -> String {
        let nodes = self.points.last().map_or(0.0, |(nodes, _)| *nodes);
        let stops = if self.reaches(most) { String::new() } else { format!(", stops at {nodes}") };
        format!("{} {}{stops}", harmless(&self.name), self.last)
    }
}

fn lines(scaling: &Scaling, value: impl Fn(&GrowthPoint) -> Option<f64>, words: fn(f64) -> String) -> Vec<Line> {
    // After the last colour the first comes with another shape.
    let styles = (0..Shape::ALL.len()).flat_map(|turn| {
        let shapes = Shape::ALL.into_iter().cycle().skip(turn);
        Role::LINES.into_iter().zip(shapes)
    });
    let lines = scaling.schemes.iter().zip(styles.cycle()).map(|(growth, (colour, shape))| {
        let sizes = growth.sizes.iter().filter(|point| point.nodes > 0);
        let points: Vec<(f64, f64)> = sizes
            .filter_map(|point| Some((point.nodes.into(), value(point).filter(|value| value.is_finite())?)))
            .collect();
        let last = points.last().map(|(_, value)| words(*value)).unwrap_or_default();
        Line { name: growth.scheme.clone(), points, colour, shape, last }
    });
    lines.collect()
}

struct Panel {
    /// What stands at its axis.
    words: &'static str,
    height: f64,
    /// How its values are written.
    round: fn(f64) -> String,
    lines: Vec<Line>,
}

fn draw(mut canvas: Canvas, panels: &[Panel], notes: &[String]) -> Result<String, ChartError> {
    let nodes = || panels.iter().flat_map(|panel| &panel.lines).flat_map(|line| &line.points).map(|(nodes, _)| *nodes);
    let (least, most) = (nodes().fold(f64::INFINITY, f64::min), nodes().fold(0.0, f64::max));
    if most <= 0.0 {
        canvas.explain("No scheme was built at any number of nodes.");
        let height = canvas.top + MARGIN;
        return canvas.svg(height);
    }
    let reaching = panels.iter().flat_map(|panel| &panel.lines).filter(|line| line.reaches(most));
    let labels = reaching.map(|line| width(&line.label(most), TEXT)).fold(0.0, f64::max).min(LABELS);
    let right = WIDTH - MARGIN - labels - LEADER - MARK;
    let across = Scale::logarithmic(least * 0.8, most * 1.05, LEFT, right);
    let mut top = canvas.top + 12.0;
    for panel in panels {
        top = panel.draw(&mut canvas, &across, most, top, right) + 52.0;
    }
    canvas.top = top - 6.0;
    for note in notes {
        canvas.explain(note);
        canvas.describe(note.trim_end_matches('.'));
    }
    let height = canvas.top + MARGIN;
    canvas.svg(height)
}

impl Panel {
    /// Draws the panel from a height on, and says where its plot ends.
    fn draw(&self, canvas: &mut Canvas, across: &Scale, most: f64, top: f64, right: f64) -> f64 {
        // As many labels as there are lines must find room.
        let height = self.lines.iter().fold(2.0 * ROW, |height, _| height + ROW).max(self.height);
        let middle = top + height;
        let values = || self.lines.iter().flat_map(|line| &line.points).map(|(_, value)| *value);
        let positive = || values().filter(|value| *value > 0.0);
        let (low, high) = (positive().fold(f64::INFINITY, f64::min), positive().fold(0.0, f64::max));
        let (low, high) = if high > 0.0 { (low / 2.5, high * 1.6) } else { (1.0, 10.0) };
        let up = Scale::logarithmic(low, high, middle, top);
        let zeros: Vec<bool> =
            self.lines.iter().map(|line| line.points.iter().any(|(_, value)| *value <= 0.0)).collect();
        let mut bottom = middle;
        // Where each line has its zero: one below the other, since all would be one line.
        let zero_of: Vec<f64> = zeros
            .iter()
            .map(|has| {
                bottom += if *has { ROW } else { 0.0 };
                bottom
            })
            .collect();
        if zeros.contains(&true) {
            bottom += ROW * 0.8;
            let at = f64::midpoint(middle, bottom);
            canvas.text((LEFT - 6.0, at), &(self.round)(0.0), Side::End, Role::Muted);
            canvas.line([(LEFT, bottom), (right, bottom)], Role::Grid, 1);
        }
        for value in up.powers(24.0) {
            let y = up.at(value);
            canvas.line([(LEFT, y), (right, y)], Role::Grid, 1);
            canvas.text((LEFT - 6.0, y), &trimmed(&(self.round)(value)), Side::End, Role::Muted);
        }
        canvas.line([(LEFT, middle), (right, middle)], Role::Quiet, 1);
        for value in across.powers(62.0) {
            let x = across.at(value);
            canvas.line([(x, top), (x, bottom + 4.0)], Role::Grid, 1);
            canvas.text((x, bottom + 14.0), &format!("{value}"), Side::Middle, Role::Muted);
        }
        canvas.text(
            (f64::midpoint(LEFT, right), bottom + 32.0),
            "number of nodes (log scale)",
            Side::Middle,
            Role::Muted,
        );
        let upright = (MARGIN + 2.0, f64::midpoint(top, middle));
        canvas.upright(upright, self.words, Side::Middle, Role::Muted, height);
        let paths: Vec<Vec<(f64, f64)>> = self
            .lines
            .iter()
            .zip(&zero_of)
            .map(|(line, zero)| {
                let at =
                    |(nodes, value): &(f64, f64)| (across.at(*nodes), if *value > 0.0 { up.at(*value) } else { *zero });
                line.points.iter().map(at).collect()
            })
            .collect();
        for (line, path) in self.lines.iter().zip(&paths) {
            if path.len() > 1 {
                canvas.line(path.clone(), line.colour, 2);
            }
            for &point in path {
                canvas.mark(point, 4, line.shape, line.colour);
            }
            line.describe(canvas, self.words);
        }
        self.label(canvas, &paths, most, Bounds { left: LEFT, right, top, bottom });
        bottom
    }

    /// Names: at the right for lines that reach the end, and where there is room near the end of any other.
    fn label(&self, canvas: &mut Canvas, paths: &[Vec<(f64, f64)>], most: f64, plot: Bounds) {
        let (reaching, stopping): (Vec<_>, Vec<_>) = self
            .lines
            .iter()
            .zip(paths)
            .filter_map(|(line, path)| Some((line, *path.last()?)))
            .partition(|(line, _)| line.reaches(most));
        let mut places = Places::new(Bounds { right: WIDTH - MARGIN, ..plot }, paths);
        let name = |canvas: &mut Canvas, line: &Line, (x, y): (f64, f64)| {
            canvas.mark((x + 3.0, y), 4, line.shape, line.colour);
            canvas.text((x + MARK, y), &line.label(most), Side::Start, Role::Ink);
        };
        let heights: Vec<f64> = reaching.iter().map(|(_, end)| end.1).collect();
        for ((line, end), y) in reaching.into_iter().zip(apart(&heights, ROW, plot.top, plot.bottom)) {
            let x = plot.right + LEADER;
            canvas.line([(end.0 + 6.0, end.1), (x - 5.0, y)], Role::Muted, 1);
            name(canvas, line, (x, y));
            places.take(Bounds {
                left: end.0,
                right: WIDTH,
                top: y.min(end.1) - ROW / 2.0,
                bottom: y.max(end.1) + ROW / 2.0,
            });
        }
        for (_, (x, y)) in &stopping {
            // Where it stops: a bar across the line, which no name may cross.
            canvas.line([(*x, y - 8.0), (*x, y + 8.0)], Role::Ink, 2);
            places.take(Bounds { left: x - 2.0, right: x + 2.0, top: y - 8.0, bottom: y + 8.0 });
        }
        for (line, end) in stopping {
            let place = places.find(end, width(&line.label(most), TEXT) + MARK, ROW);
            name(canvas, line, place);
        }
    }
}

impl Line {
    fn describe(&self, canvas: &mut Canvas, what: &str) {
        let what = what.split(" (").next().unwrap_or(what);
        match self.points.last() {
            Some((nodes, _)) => canvas.describe(&format!("{}, {what}: {} at {nodes} nodes", self.name, self.last)),
            None => canvas.describe(&format!("{}, {what}: nothing", self.name)),
        }
    }
}

/// A round number without the decimals that it does not need.
fn trimmed(words: &str) -> String {
    match words.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => words.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_numbers_have_no_decimals_that_they_do_not_need() {
        assert_eq!(["1.00 ns", "10.0 µs", "100 B", "0.50 ns"].map(trimmed), ["1 ns", "10 µs", "100 B", "0.5 ns"]);
    }
}

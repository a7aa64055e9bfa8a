use shardlab_core::rows::{NodeCount, Tried, Tuning, counted};

use super::canvas::{Canvas, ChartError, MARGIN, Side, TEXT, WIDTH};
use super::palette::Role;
use super::scale::{Scale, apart};
use super::words::width;
use shardlab_core::rows::ratio;

/// Where the curves lie.
const LEFT: f64 = 98.0;
const HEIGHT: f64 = 330.0;

/// No load is drawn nearer to a perfect balance than one part in so many: the axis of what exceeds 1 has
/// no end there.
const NEAREST: f64 = 1e6;

/// One form of the question over all values.
struct Curve {
    name: String,
    role: Role,
    points: Vec<(u32, f64)>,
}

/// The peak against the value of the option that was tuned, as an SVG picture: a curve for each form of
/// the question, a dashed line at the target, and the value that was chosen. For a scheme without such an
/// option, the peak at each number of nodes beside the lowest that the keys allow.
///
/// # Errors
/// The picture cannot be drawn.
pub fn tuning_chart(tuning: &Tuning) -> Result<String, ChartError> {
    let curves = curves(tuning);
    let keys = tuning
        .keys
        .as_ref()
        .map_or_else(String::new, |keys| format!(", {} from {}", counted(keys.accepted, "key"), keys.description));
    let draws = if tuning.draws > 1 {
        format!(", {} with other node names", counted(tuning.draws, "membership"))
    } else {
        String::new()
    };
    let asked = format!("{} on {}{draws}{keys}", tuning.scheme, counted(tuning.nodes, "node"));
    let mut canvas = Canvas::new(&finding(tuning), &asked);
    let values = || curves.iter().flat_map(|curve| &curve.points);
    let least = values().map(|(value, _)| *value).min();
    let most = values().map(|(value, _)| *value).max();
    let (Some(least), Some(most)) = (least, most) else {
        canvas.explain("Nothing was tried.");
        return {
            let height = canvas.top + MARGIN;
            canvas.svg(height)
        };
    };
    let labels = curves.iter().map(|curve| width(&curve.name, TEXT)).fold(0.0, f64::max);
    let (top, bottom) = (canvas.top + 14.0, canvas.top + 14.0 + HEIGHT);
    let right = WIDTH - MARGIN - labels - 30.0;
    let up = Up::new(tuning, values().map(|(_, peak)| *peak), top, bottom);
    let across = across(tuning, least, most, right);
    axes(&mut canvas, tuning, &across, &up, top, bottom, right);
    let target = up.at(tuning.peak);
    canvas.dashes([(LEFT, target), (right, target)], Role::Ink, 1);
    if let Some(value) = tuning.value {
        let x = across.at(value.into());
        canvas.dashes([(x, top), (x, bottom)], Role::Ink, 1);
        let side = if x > f64::midpoint(LEFT, right) { (x - 6.0, Side::End) } else { (x + 6.0, Side::Start) };
        let words = format!("{}={value}", tuning.option);
        canvas.text((side.0, top + 8.0), &words, side.1, Role::Ink);
    }
    // Where an option falls towards the target the left is free, and where loads grow with the nodes the right.
    let (x, side) = if tuning.tried.is_empty() { (right - 6.0, Side::End) } else { (LEFT + 6.0, Side::Start) };
    let is_above = target > bottom - 24.0 || !tuning.tried.is_empty() && target > top + 16.0;
    let y = if is_above { target - 9.0 } else { target + 10.0 };
    canvas.text((x, y), &format!("target {}", ratio(tuning.peak)), side, Role::Ink);
    for curve in &curves {
        let at = |(value, peak): &(u32, f64)| (across.at((*value).into()), up.at(*peak));
        let line: Vec<(f64, f64)> = curve.points.iter().map(at).collect();
        canvas.line(line.clone(), curve.role, 2);
        for point in line {
            canvas.dot(point, 2, curve.role);
        }
        if let (Some(first), Some(last)) = (curve.points.first(), curve.points.last()) {
            canvas.describe(&format!(
                "{}: {} at {}={}, {} at {}={}",
                curve.name,
                ratio(first.1),
                tuning.option,
                first.0,
                ratio(last.1),
                tuning.option,
                last.0
            ));
        }
    }
    let ends: Vec<(&Curve, f64)> =
        curves.iter().filter_map(|curve| Some((curve, up.at(curve.points.last()?.1)))).collect();
    let heights: Vec<f64> = ends.iter().map(|(_, height)| *height).collect();
    for ((curve, _), height) in ends.iter().zip(apart(&heights, TEXT * 1.3, top, bottom)) {
        // Colours that a line may have are too faint for words.
        canvas.line([(right + 6.0, height), (right + 20.0, height)], curve.role, 2);
        canvas.dot((right + 13.0, height), 2, curve.role);
        canvas.text((right + 26.0, height), &curve.name, Side::Start, Role::Ink);
    }
    canvas.svg(bottom + 54.0)
}

/// The axis of values: by factors for an option, by steps for numbers of nodes.
fn across(tuning: &Tuning, least: u32, most: u32, right: f64) -> Scale {
    let (least, most) = (f64::from(least), f64::from(most));
    if tuning.tried.is_empty() {
        Scale::linear(least - 0.5, most + 0.5, LEFT, right)
    } else {
        Scale::logarithmic((least * 0.9).max(0.1), most * 1.1, LEFT, right)
    }
}

/// The axis of peaks. For an option it is one of what exceeds 1, which falls to nothing by factors.
struct Up {
    scale: Scale,
    excess: bool,
    words: &'static str,
}

impl Up {
    fn new(tuning: &Tuning, peaks: impl Iterator<Item = f64> + Clone, top: f64, bottom: f64) -> Self {
        let highest = peaks.clone().fold(tuning.peak, f64::max);
        if tuning.tried.is_empty() {
            let (scale, words) = if highest < 3.0 {
                (Scale::linear(0.95, highest + 0.05, bottom, top), "peak-to-average")
            } else {
                (Scale::logarithmic(0.9, highest * 1.1, bottom, top), "peak-to-average (log scale)")
            };
            return Self { scale, excess: false, words };
        }
        // A perfect balance lies below every end of the axis, and is drawn at its end.
        let least = 1.0 / NEAREST;
        let lowest = peaks.map(|peak| peak - 1.0).filter(|over| *over > least).fold(tuning.peak - 1.0, f64::min);
        let (from, to) = (lowest.max(least) / 1.3, (highest - 1.0).max(2.0 * least) * 1.3);
        let words = "peak-to-average (log scale of what exceeds 1)";
        Self { scale: Scale::logarithmic(from, to, bottom, top), excess: true, words }
    }

    fn at(&self, peak: f64) -> f64 {
        self.scale.at(if self.excess { peak - 1.0 } else { peak })
    }

    /// Where round numbers lie, with what is written there.
    fn ticks(&self) -> Vec<(f64, String)> {
        let shown = |(value, word): (f64, String)| {
            // The decimals that a small number needs, its sum with 1 needs as well.
            let decimals = word.split_once('.').map_or(1, |(_, digits)| digits.len());
            (self.scale.at(value), if self.excess { format!("{:.decimals$}", 1.0 + value) } else { word })
        };
        self.scale.ticks(26.0).into_iter().map(shown).collect()
    }
}

fn axes(canvas: &mut Canvas, tuning: &Tuning, across: &Scale, up: &Up, top: f64, bottom: f64, right: f64) {
    for (y, word) in up.ticks() {
        canvas.line([(LEFT, y), (right, y)], Role::Grid, 1);
        canvas.text((LEFT - 6.0, y), &word, Side::End, Role::Muted);
    }
    for (value, word) in across.ticks(48.0) {
        let x = across.at(value);
        canvas.line([(x, top), (x, bottom + 4.0)], Role::Grid, 1);
        canvas.text((x, bottom + 14.0), &word, Side::Middle, Role::Muted);
    }
    let words =
        if tuning.tried.is_empty() { "number of nodes".to_owned() } else { format!("{} (log scale)", tuning.option) };
    canvas.text((f64::midpoint(LEFT, right), bottom + 36.0), &words, Side::Middle, Role::Muted);
    let height = f64::midpoint(top, bottom);
    canvas.upright((MARGIN + 4.0, height), up.words, Side::Middle, Role::Muted, HEIGHT);
}

fn curves(tuning: &Tuning) -> Vec<Curve> {
    if tuning.tried.is_empty() {
        let of = |pick: fn(&NodeCount) -> Option<f64>| {
            let counts = tuning.node_counts.iter();
            counts.filter_map(|count| Some((count.nodes, pick(count)?))).collect::<Vec<_>>()
        };
        let curves = [
            Curve { name: "lowest possible".to_owned(), role: Role::Muted, points: of(|count| Some(count.floor)) },
            Curve { name: "these keys".to_owned(), role: Role::Good, points: of(|count| count.these_keys) },
        ];
        return curves.into_iter().filter(|curve| !curve.points.is_empty()).collect();
    }
    let of = |pick: fn(&Tried) -> Option<f64>| {
        tuning.tried.iter().filter_map(|tried| Some((tried.value, pick(tried)?))).collect::<Vec<_>>()
    };
    // Where names do not matter, these three are one.
    let names_matter = tuning.tried.iter().any(|tried| tried.draws > 1);
    let mut curves = Vec::new();
    if names_matter {
        let part = format!("{} % of names", percent_of_names(tuning.confidence));
        curves.push(Curve { name: part, role: Role::Bad, points: of(|tried| Some(tried.quantile)) });
        curves.push(Curve { name: "mean of names".to_owned(), role: Role::Good, points: of(|tried| Some(tried.mean)) });
    }
    let these = if names_matter { "these names" } else { "exact shares" };
    curves.push(Curve { name: these.to_owned(), role: Role::Fourth, points: of(|tried| Some(tried.these_names)) });
    curves.push(Curve { name: "promised".to_owned(), role: Role::Bad, points: of(|tried| tried.promised) });
    curves.push(Curve { name: "these keys".to_owned(), role: Role::Third, points: of(|tried| tried.these_keys) });
    curves.retain(|curve| !curve.points.is_empty());
    curves
}

fn percent_of_names(confidence: f64) -> String {
    let shown = format!("{:.4}", confidence * 100.0);
    shown.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn finding(tuning: &Tuning) -> String {
    let (target, nodes) = (ratio(tuning.peak), counted(tuning.nodes, "node"));
    if let Some(reason) = &tuning.impossible {
        return format!("No {} keeps the peak at or below {target}: {reason}", tuning.option);
    }
    if tuning.tried.is_empty() {
        // One node is always even, and no answer.
        let several = || tuning.node_counts.iter().filter(|count| count.nodes > 1);
        let meets = several().filter(|count| count.these_keys.is_some_and(|peak| peak <= tuning.peak)).count();
        let of = counted(several().count(), "number");
        let nearest = match tuning.value {
            Some(value) if value == tuning.nodes => format!(", {value} among them"),
            Some(value) => format!("; {} does not, the nearest is {value}", tuning.nodes),
            None => String::new(),
        };
        return format!("{meets} of {of} of nodes keep the peak of these keys at or below {target}{nearest}");
    }
    let names = if tuning.tried.iter().any(|tried| tried.draws > 1) {
        format!(" for {} % of names", percent_of_names(tuning.confidence))
    } else {
        String::new()
    };
    match tuning.value {
        Some(value) => format!("{}={value} keeps the peak of {nodes} at or below {target}{names}", tuning.option),
        None => format!("No {} that was tried keeps the peak of {nodes} at or below {target}{names}", tuning.option),
    }
}

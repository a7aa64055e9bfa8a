use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use shardlab_core::rows::{Comparison, Measured, RowOutcome};

/// A chart that could not be drawn.
#[derive(Debug, thiserror::Error)]
#[error("cannot draw the chart: {0}")]
pub struct ChartError(String);

/// Blue and orange of the Okabe-Ito palette, which colour-blind readers can tell apart.
const WITHIN: RGBColor = RGBColor(0, 114, 178);
const BEYOND: RGBColor = RGBColor(213, 94, 0);

/// What chance does, behind the bars, and the mean that all are measured by.
const CHANCE: RGBColor = RGBColor(228, 228, 228);
const MEAN: RGBColor = RGBColor(90, 90, 90);

/// Peak and minimum load over the mean for every measured row, as an SVG picture: one horizontal bar
/// a scheme from its emptiest to its fullest node, orange where the spread is beyond chance. Behind them
/// a line at 1, which every node would have, and a grey band: in 99 of 100 cases chance alone leaves the
/// fullest node within it, and the emptiest about as far below.
///
/// # Errors
/// The picture cannot be drawn.
pub fn load_chart(comparison: &Comparison) -> Result<String, ChartError> {
    let rows: Vec<(&str, &Measured)> = comparison
        .rows
        .iter()
        .filter_map(|row| match &row.outcome {
            RowOutcome::Measured(measured) => Some((row.scheme.as_str(), &**measured)),
            RowOutcome::NotApplicable { .. } => None,
        })
        .collect();
    // The vertical axis counts upwards, and the first row belongs at the top.
    let rows: Vec<(&str, &Measured)> = rows.into_iter().rev().collect();
    let mut picture = String::new();
    draw(&mut picture, comparison, &rows).map_err(|error| ChartError(error.to_string()))?;
    Ok(picture)
}

fn draw(
    picture: &mut String,
    comparison: &Comparison,
    rows: &[(&str, &Measured)],
) -> Result<(), Box<dyn std::error::Error>> {
    let height = u32::try_from(rows.len())?.saturating_mul(40).saturating_add(110);
    let root = SVGBackend::with_string(picture, (900, height)).into_drawing_area();
    root.fill(&WHITE)?;
    let ends = |pick: fn(&Measured) -> f64| rows.iter().map(move |(_, row)| pick(row));
    let least = ends(|row| row.balance.min_to_average).fold(1.0, f64::min);
    let most = ends(|row| row.balance.peak_to_average).fold(1.0, f64::max);
    let chance = rows.iter().find_map(|(_, row)| row.balance.chance_peak.as_ref()).map(|peak| peak.p99 - 1.0);
    let (least, most) =
        chance.map_or((least, most), |chance| (least.min(1.0 - chance).max(0.0), most.max(1.0 + chance)));
    let margin = ((most - least) * 0.08).max(0.001);
    let (from, to) = (least - margin, most + margin);
    let labels = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let worst = rows.iter().max_by(|a, b| a.1.balance.peak_to_average.total_cmp(&b.1.balance.peak_to_average));
    let finding = worst.map_or_else(
        || "No scheme was measured".to_owned(),
        |(name, row)| format!("Fullest node: {:.3} times the mean at most ({name})", row.balance.peak_to_average),
    );
    let count = |count: u64, one: &str| if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") };
    let caption =
        format!("{finding}, {} on {}", count(comparison.keys.accepted, "key"), count(comparison.nodes.into(), "node"));
    // A range of rows counts its end in, which must be the last row and no empty one behind it.
    let mut chart = ChartBuilder::on(&root)
        .caption(caption, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(u32::try_from(labels)?.saturating_mul(8).saturating_add(16))
        .build_cartesian_2d(from..to, (0..rows.len().saturating_sub(1)).into_segmented())?;
    let bottom_to_top = |load: f64| [(load, SegmentValue::Exact(0)), (load, SegmentValue::Last)];
    if let Some(chance) = chance {
        let corners = [(1.0 - chance, SegmentValue::Exact(0)), (1.0 + chance, SegmentValue::Last)];
        chart.draw_series([Rectangle::new(corners, CHANCE.filled())])?;
    }
    let by_chance = if chance.is_some() { "; grey: chance alone, in 99 of 100 cases" } else { "" };
    chart
        .configure_mesh()
        .disable_y_mesh()
        .x_desc(format!("load of a node over the mean load{by_chance}"))
        .x_label_formatter(&|load| format!("{load:.3}"))
        .y_label_formatter(&|segment| match segment {
            SegmentValue::CenterOf(row) => rows.get(*row).map_or_else(String::new, |(name, _)| (*name).to_owned()),
            _ => String::new(),
        })
        .y_labels(rows.len().max(1))
        .draw()?;
    chart.draw_series(LineSeries::new(bottom_to_top(1.0), MEAN.stroke_width(1)))?;
    let label_style = TextStyle::from(("sans-serif", 13).into_font()).pos(Pos::new(HPos::Center, VPos::Bottom));
    for (place, (_, row)) in rows.iter().enumerate() {
        let beyond = row.balance.verdict == shardlab_core::rows::Verdict::Structural;
        let colour = if beyond { BEYOND } else { WITHIN };
        let (low, high) = (row.balance.min_to_average, row.balance.peak_to_average);
        let line = [(low, SegmentValue::CenterOf(place)), (high, SegmentValue::CenterOf(place))];
        chart.draw_series(LineSeries::new(line.clone(), colour.stroke_width(8)))?;
        let verdict = if beyond { " beyond chance" } else { "" };
        let label = format!("{low:.3} to {high:.3}{verdict}");
        let middle = (f64::midpoint(low, high), SegmentValue::CenterOf(place));
        chart.draw_series([EmptyElement::at(middle) + Text::new(label, (0, -8), label_style.clone())])?;
    }
    root.present()?;
    Ok(())
}

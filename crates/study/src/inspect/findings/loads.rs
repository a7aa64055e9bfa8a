//! Findings about how many documents, values and bytes there are.

use shardlab_core::rows::{Finding, Floor, Inspection, PlacementOutcome, Separation, Severity, percent};

use super::{PER_NODE, finding};

/// From this peak-to-average on a floor is harmful, and from the lower one on worth watching.
const HARMFUL: f64 = 2.0;
const WATCH: f64 = 1.25;

/// A document is heavy where it has so many times the mean weight.
const HEAVY: f64 = 3.0;

pub(super) fn found(inspection: &Inspection) -> Vec<Finding> {
    let all = [
        duplicates(inspection),
        few(inspection),
        common(inspection),
        heavy_value(inspection),
        heavy_document(inspection),
    ];
    all.into_iter().flatten().collect()
}

fn severity(floor: f64) -> Option<Severity> {
    match floor {
        floor if floor >= HARMFUL => Some(Severity::Harmful),
        floor if floor >= WATCH => Some(Severity::Watch),
        _ => None,
    }
}

fn duplicates(inspection: &Inspection) -> Option<Finding> {
    let counted = &inspection.cardinality;
    let what = if counted.placed_by == "keys" { "key" } else { "document (id and routing value)" };
    (counted.duplicates > 0).then(|| {
        finding(
            "duplicates",
            Severity::Watch,
            format!(
                "{} of {} rows repeat a {what} that stood before; {} are different",
                counted.duplicates, counted.rows, counted.distinct_documents
            ),
            "an index keeps one of each: find out where the others come from, and measure balance with --distinct",
        )
    })
}

/// Where few values lie as evenly as can be, a row a scheme.
fn separations(inspection: &Inspection) -> Option<String> {
    let row = |row: &Separation| {
        let nodes: Vec<String> = row.nodes.iter().map(u32::to_string).collect();
        let nodes = if nodes.is_empty() { format!("none up to {}", row.tried_to) } else { nodes.join(", ") };
        format!("{} over {}: {nodes}", row.scheme, row.hash)
    };
    let rows: Vec<String> = inspection.separations.iter().map(row).collect();
    let words = format!("; they lie as evenly as can be at these numbers of nodes: {}", rows.join("; "));
    (!rows.is_empty()).then_some(words)
}

/// Few values, which no hash evens out, or few documents, of which some nodes get none.
fn few(inspection: &Inspection) -> Option<Finding> {
    let counted = &inspection.cardinality;
    let values = counted.distinct_values;
    let largest = inspection.floors.iter().map(|floor| floor.nodes).max()?;
    let sparse = |count: u64| count < PER_NODE * u64::from(largest);
    if !sparse(values) {
        return None;
    }
    let repeated = counted.rows > values && !sparse(counted.rows);
    if !repeated && !counted.placed_by.starts_with("routing") {
        let empty = inspection.placements.iter().filter(|placement| placement.nodes == largest);
        let empty = empty.filter_map(|placement| match &placement.outcome {
            PlacementOutcome::Placed(placed) => Some(f64::from(largest) - placed.expected_nodes_used),
            PlacementOutcome::NotApplicable { .. } => None,
        });
        let empty = empty.fold(0.0, f64::max);
        return Some(finding(
            "few_documents",
            Severity::Harmless,
            format!(
                "{} few for {}: {:.1} a node, and about {empty:.1} nodes stay empty by chance",
                if counted.rows == 1 { "1 document is".to_owned() } else { format!("{} documents are", counted.rows) },
                shardlab_core::rows::counted(largest, "node"),
                counted.rows as f64 / f64::from(largest)
            ) + &separations(inspection).unwrap_or_default(),
            "nothing, if these are all there are; values that stand for many documents have to be tried, not taken for \
             even",
        ));
    }
    let idle = u64::from(largest).saturating_sub(values);
    let mut sentence = format!("only {values} different {} decide the place", counted.placed_by);
    if idle > 0 {
        sentence.push_str(&format!(", so on {largest} nodes at least {idle} stay idle"));
    }
    sentence.extend(separations(inspection));
    let severity = if repeated && idle > 0 { Severity::Harmful } else { Severity::Watch };
    Some(finding(
        "few_values",
        severity,
        sentence,
        "few values have to be tried, not taken for even: choose a number of nodes at which they separate, or place by \
         something with more values",
    ))
}

fn at_each(floors: &[Floor], of: impl Fn(&Floor) -> f64) -> String {
    floors.iter().map(|floor| format!("{:.2} at n={}", of(floor), floor.nodes)).collect::<Vec<_>>().join(", ")
}

fn common(inspection: &Inspection) -> Option<Finding> {
    let top = inspection.top_values.first().filter(|top| top.rows > 1)?;
    let enough = |floor: &&Floor| inspection.cardinality.rows >= PER_NODE * u64::from(floor.nodes);
    let worst = inspection.floors.iter().filter(enough).map(|floor| floor.rows_expected).fold(1.0, f64::max);
    let severity = severity(worst)?;
    let beyond = (inspection.cardinality.rows / top.rows).max(1);
    Some(finding(
        "common_value",
        severity,
        format!(
            "{:?} stands for {} of the documents ({} of {}), so that the fullest node has at least so many times the \
             mean: {}; adding nodes cannot help beyond n = {beyond}, since that node never has fewer than {}",
            top.value,
            percent(top.share),
            top.rows,
            inspection.cardinality.rows,
            at_each(&inspection.floors, |floor| floor.rows_floor),
            top.rows
        ),
        "give it an index of its own, place by something finer, or spread it over several nodes. In Elasticsearch that is \
         index.routing_partition_size: on indices created on 7.0 to 9.3 and on OpenSearch it does next to nothing with the \
         default routing shards; it works there if the index is made with as many routing shards as shards, which rules \
         out every later split (shardlab split-plan --partition shows both)",
    ))
}

fn weight_floor(inspection: &Inspection) -> f64 {
    inspection.floors.iter().filter_map(|floor| floor.weight_floor).fold(1.0, f64::max)
}

fn heavy_document(inspection: &Inspection) -> Option<Finding> {
    let weights = inspection.weights.as_ref()?;
    let share = weights.heaviest_document_share;
    if share * (inspection.cardinality.rows as f64) < HEAVY {
        return None;
    }
    let floor = |floor: &Floor| (share * f64::from(floor.nodes)).max(1.0);
    let severity = severity(inspection.floors.iter().map(floor).fold(1.0, f64::max))?;
    Some(finding(
        "heavy_document",
        severity,
        format!(
            "the document {:?} has {} of all weight, so that in bytes the fullest node has at least so many times the \
             mean: {}; adding nodes cannot help beyond n = {}",
            weights.heaviest_document,
            percent(share),
            at_each(&inspection.floors, floor),
            (1.0 / share).floor()
        ),
        "no scheme divides a document: keep such documents elsewhere or cut them up, and weigh by bytes, since the \
         count of keys looks even",
    ))
}

/// A value whose weight is that of several documents.
fn heavy_value(inspection: &Inspection) -> Option<Finding> {
    let weights = inspection.weights.as_ref()?;
    let share = weights.heaviest_value_share;
    let values = inspection.cardinality.distinct_values as f64;
    if share <= weights.heaviest_document_share * 1.001 || share * values < HEAVY {
        return None;
    }
    let severity = severity(weight_floor(inspection))?;
    Some(finding(
        "heavy_value",
        severity,
        format!(
            "the documents of {:?} have {} of all weight, so that in bytes the fullest node has at least so many times \
             the mean: {}; adding nodes cannot help beyond n = {}",
            weights.heaviest_value,
            percent(share),
            at_each(&inspection.floors, |floor| floor.weight_floor.unwrap_or(1.0)),
            (1.0 / share).floor()
        ),
        "spread the value over several nodes, or give it nodes of its own",
    ))
}

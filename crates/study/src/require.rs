use shardlab_core::rows::{ChangeOutcome, Comparison, PathRows, RowOutcome, StepOutcome, WhatIf};

/// A bound on a measured number, such as `peak<=1.10`.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    metric: String,
    relation: Relation,
    bound: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    AtMost,
    AtLeast,
    Below,
    Above,
    Equal,
}

/// The relations, those of two characters first so that `<=` is not read as `<`.
const RELATIONS: [(&str, Relation); 5] = [
    ("<=", Relation::AtMost),
    (">=", Relation::AtLeast),
    ("==", Relation::Equal),
    ("<", Relation::Below),
    (">", Relation::Above),
];

/// Why a text is not a requirement, or not one of this result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequireError {
    /// Not of the form metric, relation, number.
    #[error("requirement {text:?} is not of the form METRIC<=NUMBER (or <, >=, >, ==), such as peak<=1.10")]
    Form {
        /// What was written.
        text: String,
    },
    /// No number of that name is measured here.
    #[error("requirement {text:?}: there is no number {metric:?} here; the numbers are {known}")]
    Metric {
        /// What was written.
        text: String,
        /// The name.
        metric: String,
        /// The names there are.
        known: String,
    },
}

/// A requirement that a result does not meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmet {
    /// The row or the change that fails.
    pub subject: String,
    /// The requirement as it was written.
    pub requirement: String,
    /// What was measured, or why there is nothing.
    pub measured: String,
}

impl std::fmt::Display for Unmet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {} is not met: {}", self.subject, self.requirement, self.measured)
    }
}

impl Requirement {
    /// Reads `METRIC<=NUMBER`; spaces around the parts are fine.
    ///
    /// # Errors
    /// [`RequireError::Form`].
    pub fn parse(text: &str) -> Result<Self, RequireError> {
        let form = || RequireError::Form { text: text.to_owned() };
        let (at, (symbol, relation)) = RELATIONS
            .iter()
            .filter_map(|found| Some((text.find(found.0)?, *found)))
            .min_by_key(|(at, (symbol, _))| (*at, std::cmp::Reverse(symbol.len())))
            .ok_or_else(form)?;
        let (metric, bound) = (text[..at].trim(), text[at + symbol.len()..].trim());
        let bound: f64 = bound.parse().ok().filter(|bound: &f64| bound.is_finite()).ok_or_else(form)?;
        if metric.is_empty() {
            return Err(form());
        }
        Ok(Self { metric: metric.to_owned(), relation, bound })
    }

    fn holds(&self, value: f64) -> bool {
        match self.relation {
            Relation::AtMost => value <= self.bound,
            Relation::AtLeast => value >= self.bound,
            Relation::Below => value < self.bound,
            Relation::Above => value > self.bound,
            // A bound of 0 is the usual one, and what is compared was never rounded.
            Relation::Equal => (value - self.bound).abs() < f64::EPSILON,
        }
    }

    /// Checks one subject's numbers.
    fn check(&self, subject: &str, numbers: &[(String, Number)]) -> Result<Option<Unmet>, RequireError> {
        let Some((_, number)) = numbers.iter().find(|(name, _)| *name == self.metric) else {
            let known = numbers.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
            return Err(RequireError::Metric { text: self.to_string(), metric: self.metric.clone(), known });
        };
        let measured = match number {
            Number::Is(value) if self.holds(*value) => return Ok(None),
            Number::Is(value) => format!("{} is {}", self.metric, shardlab_core::rows::six_digits(*value)),
            Number::None(reason) => format!("n/a: {reason}"),
        };
        Ok(Some(Unmet { subject: subject.to_owned(), requirement: self.to_string(), measured }))
    }
}

impl std::fmt::Display for Requirement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let symbol = RELATIONS.iter().find(|(_, relation)| *relation == self.relation).map_or("", |(symbol, _)| symbol);
        write!(f, "{}{symbol}{}", self.metric, self.bound)
    }
}

/// A number by name, or why there is none: what cannot be measured meets no requirement.
#[derive(Clone, Debug)]
enum Number {
    Is(f64),
    None(String),
}

/// Holds a what-if against requirements.
///
/// # Errors
/// A requirement names a number that a what-if does not have.
pub fn unmet_by_what_if(rows: &WhatIf, requirements: &[Requirement]) -> Result<Vec<Unmet>, RequireError> {
    let known = |name: &str, value: f64| (name.to_owned(), Number::Is(value));
    let maybe = |name: &str, value: Option<f64>, reason: &str| {
        (name.to_owned(), value.map_or_else(|| Number::None(reason.to_owned()), Number::Is))
    };
    let numbers = [
        known("moved", rows.moves.moved_fraction),
        known("minimum", rows.moves.minimum_fraction),
        known("excess", rows.moves.excess_fraction),
        known("disruption", rows.moves.disruption_fraction),
        known("peak", rows.after.peak_to_average),
        known("peak_before", rows.before.peak_to_average),
        known("cv", rows.after.cv),
        known("p_value", rows.after.p_value),
        maybe("left_parent", rows.left_parent_fraction, "this is no split or shrink"),
        maybe("moved_bytes", rows.moved_bytes.map(|bytes| bytes as f64), "no bytes were given"),
        maybe("seconds_serial", rows.seconds_serial, "no bytes or no bandwidth were given"),
        maybe("seconds_parallel", rows.seconds_parallel, "no bytes or no bandwidth were given"),
        maybe("seconds_rewritten", rows.seconds_rewritten, "no bytes or no bandwidth were given"),
        maybe("moved_requests", rows.moved_requests.map(|requests| requests as f64), "no requests were given"),
        maybe("made", rows.replicas.as_ref().map(|copies| copies.made_fraction), "no copies were asked for"),
        maybe(
            "lost_every_copy",
            rows.replicas.as_ref().map(|copies| copies.lost_every_copy as f64),
            "no copies were asked for",
        ),
        maybe(
            "machines_moved",
            rows.machines.as_ref().map(|machines| machines.moved_fraction),
            "no machines were given",
        ),
        maybe(
            "machines_peak",
            rows.machines.as_ref().map(|machines| machines.after.peak_to_average),
            "no machines were given",
        ),
    ];
    collect(requirements.iter().map(|requirement| requirement.check(&rows.change, &numbers)))
}

/// Holds every step of a path against requirements; `cumulative`, `straight`, `detour` and
/// `moved_more_than_once` are those of the path as a whole.
///
/// # Errors
/// A requirement names a number that a path does not have.
pub fn unmet_by_path(rows: &PathRows, requirements: &[Requirement]) -> Result<Vec<Unmet>, RequireError> {
    // The totals of a path that stops are those of its beginning, and meet no requirement.
    let total = |name: &str, value: f64| {
        let number =
            rows.stops_at.map_or(Number::Is(value), |step| Number::None(format!("the path stops at step {step}")));
        (name.to_owned(), number)
    };
    let whole = [
        total("cumulative", rows.cumulative_fraction),
        total("straight", rows.straight_fraction),
        total("detour", rows.detour_fraction),
        total("moved_more_than_once", rows.moved_more_than_once_fraction),
    ];
    let mut unmet = Vec::new();
    for requirement in requirements {
        if whole.iter().any(|(name, _)| *name == requirement.metric) {
            unmet.extend(requirement.check("the path", &whole)?);
            continue;
        }
        for step in &rows.steps {
            let done = match &step.outcome {
                StepOutcome::Done(done) => Ok(&**done),
                StepOutcome::NotApplicable { not_applicable } => Err(not_applicable),
            };
            let number = |name: &str, pick: fn(&shardlab_core::rows::StepRows) -> f64| {
                (
                    name.to_owned(),
                    done.map_or_else(|reason| Number::None(reason.clone()), |done| Number::Is(pick(done))),
                )
            };
            let mut numbers = vec![
                number("moved", |step| step.moves.moved_fraction),
                number("minimum", |step| step.moves.minimum_fraction),
                number("excess", |step| step.moves.excess_fraction),
                number("disruption", |step| step.moves.disruption_fraction),
                number("peak", |step| step.after.peak_to_average),
                number("cv", |step| step.after.cv),
            ];
            numbers.extend(whole.clone());
            unmet.extend(requirement.check(&step.change, &numbers)?);
        }
    }
    Ok(unmet)
}

/// Holds every row of a comparison against requirements. `moved`, `minimum`, `excess` and `disruption`
/// alone are those of adding one node; the other changes have theirs, such as `remove_middle.moved`.
///
/// # Errors
/// A requirement names a number that a comparison does not have.
pub fn unmet_by_comparison(comparison: &Comparison, requirements: &[Requirement]) -> Result<Vec<Unmet>, RequireError> {
    let mut unmet = Vec::new();
    for row in &comparison.rows {
        let numbers = row_numbers(&row.outcome);
        unmet.extend(collect(requirements.iter().map(|requirement| requirement.check(&row.scheme, &numbers)))?);
    }
    Ok(unmet)
}

fn collect(checks: impl Iterator<Item = Result<Option<Unmet>, RequireError>>) -> Result<Vec<Unmet>, RequireError> {
    checks.filter_map(Result::transpose).collect()
}

fn row_numbers(outcome: &RowOutcome) -> Vec<(String, Number)> {
    let measured = match outcome {
        RowOutcome::Measured(measured) => Ok(&**measured),
        RowOutcome::NotApplicable { not_applicable } => Err(not_applicable.clone()),
    };
    let mut numbers: Vec<(String, Number)> = Vec::new();
    let mut number = |name: String, value: Result<f64, String>| {
        numbers.push((name, value.map_or_else(Number::None, Number::Is)));
    };
    let each = |pick: fn(&shardlab_core::rows::Measured) -> f64| measured.clone().map(pick);
    number("peak".to_owned(), each(|row| row.balance.peak_to_average));
    number("min".to_owned(), each(|row| row.balance.min_to_average));
    number("cv".to_owned(), each(|row| row.balance.cv));
    number("p_value".to_owned(), each(|row| row.balance.p_value));
    number("heap_bytes".to_owned(), each(|row| row.heap_bytes as f64));
    type Pick = fn(&shardlab_core::rows::Movements) -> &ChangeOutcome;
    let changes: [(&str, Pick); 5] = [
        ("", |movement| &movement.add_one),
        ("add_one.", |movement| &movement.add_one),
        ("remove_last.", |movement| &movement.remove_last),
        ("remove_middle.", |movement| &movement.remove_middle),
        ("double.", |movement| &movement.double),
    ];
    for (prefix, pick) in changes {
        let movement = measured.clone().and_then(|measured| match pick(&measured.movement) {
            ChangeOutcome::Moved(movement) => Ok(movement),
            ChangeOutcome::NotApplicable { not_applicable } => Err(not_applicable.clone()),
        });
        number(format!("{prefix}moved"), movement.clone().map(|movement| movement.moved));
        number(format!("{prefix}minimum"), movement.clone().map(|movement| movement.minimum));
        number(format!("{prefix}excess"), movement.clone().map(|movement| movement.excess));
        number(format!("{prefix}disruption"), movement.map(|movement| movement.disruption));
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_are_read_with_their_relation() {
        for (text, value, holds) in [
            ("peak<=1.10", 1.1, true),
            ("peak <= 1.10", 1.11, false),
            ("moved<0.12", 0.12, false),
            ("disruption==0", 0.0, true),
            ("disruption==0", 1e-9, false),
            ("min>=0.9", 0.9, true),
            ("p_value>1e-3", 0.5, true),
        ] {
            assert_eq!(Requirement::parse(text).unwrap().holds(value), holds, "{text} for {value}");
        }
        for text in ["", "peak", "peak<=", "<=1", "peak=1", "peak<=x", "peak<=nan", "peak<=inf", "peak<==1"] {
            assert!(matches!(Requirement::parse(text), Err(RequireError::Form { .. })), "{text}");
        }
    }

    #[test]
    fn what_is_not_there_meets_nothing_and_what_is_unknown_is_an_error() {
        let numbers = [("moved".to_owned(), Number::None("only the last node can leave".to_owned()))];
        let unmet = Requirement::parse("moved<=0.5").unwrap().check("it", &numbers).unwrap().unwrap();
        assert_eq!(unmet.to_string(), "it: moved<=0.5 is not met: n/a: only the last node can leave");
        let unknown = Requirement::parse("mooved<=0.5").unwrap().check("it", &numbers);
        assert!(matches!(unknown, Err(RequireError::Metric { .. })));
    }
}

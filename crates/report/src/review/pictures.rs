//! Which pictures a review has.

use shardlab_core::rows::{Review, ReviewStudies};

use crate::figures::{
    ChartError, cost_growth_chart, flow_chart, load_chart, lookup_growth_chart, movement_chart, path_chart,
    split_tree_chart, tuning_chart,
};

/// What a picture belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    Load,
    Tuning,
    Movement,
    Flows,
    Path,
    Splits,
    Growth,
}

/// A picture with the stem of its name.
pub(super) struct Picture {
    pub(super) subject: Subject,
    pub(super) name: String,
    pub(super) svg: String,
}

pub(super) fn draw(review: &Review, studies: &ReviewStudies) -> Result<Vec<Picture>, ChartError> {
    let mut pictures: Vec<Picture> = Vec::new();
    let mut add = |subject, stem: &str, svg: String| {
        // Two specs may have the same letters and digits.
        let taken = |name: &str| pictures.iter().any(|known| known.name == name);
        let mut name = slug(stem);
        let mut number = 2;
        while taken(&name) {
            name = format!("{}-{number}", slug(stem));
            number += 1;
        }
        pictures.push(Picture { subject, name, svg });
    };
    add(Subject::Load, "load", load_chart(&studies.comparison)?);
    for tuning in studies.tunings.iter().filter(|tuning| tuning.tried.len() > 1) {
        add(Subject::Tuning, &format!("tuning {}", tuning.scheme), tuning_chart(tuning)?);
    }
    add(Subject::Movement, "movement", movement_chart(&studies.comparison)?);
    for flows in studies.flows.iter().filter(|flows| !flows.matrix.is_empty()) {
        add(Subject::Flows, &format!("flows {}", flows.from), flow_chart(flows)?);
    }
    // The scheme in use and the best one; the others stand in the table.
    let is_shown = |scheme: &str| studies.flows.iter().any(|flows| flows.from == scheme);
    for path in studies.paths.iter().filter(|path| is_shown(&path.start)) {
        add(Subject::Path, &format!("path {}", path.start), path_chart(path)?);
    }
    for plan in &studies.split_plans {
        let stem = format!("splits {} to {}", plan.from, plan.to.map(|to| to.to_string()).unwrap_or_default());
        add(Subject::Splits, &stem, split_tree_chart(plan)?);
    }
    if let Some(growth) = studies.growth.as_ref().filter(|_| review.timings.is_some()) {
        add(Subject::Growth, "lookup growth", lookup_growth_chart(growth)?);
        add(Subject::Growth, "cost growth", cost_growth_chart(growth)?);
    }
    Ok(pictures)
}

/// Lower-case letters, digits and single hyphens.
fn slug(words: &str) -> String {
    let mut slug = String::new();
    for letter in words.chars() {
        if letter.is_ascii_alphanumeric() {
            slug.push(letter.to_ascii_lowercase());
        } else if !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.trim_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn names_of_files_have_letters_digits_and_hyphens() {
        assert_eq!(slug("tuning ring:vnodes=640"), "tuning-ring-vnodes-640");
        assert_eq!(slug("../<b>"), "b");
    }
}

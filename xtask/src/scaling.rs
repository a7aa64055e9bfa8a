//! How cost grows with nodes: a curve through the measurements beside what a scheme says of itself.

use serde_json::Value;

use crate::peers::ns;

/// The curves that are tried: a + b f(n) with one of these f.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Growth {
    Constant,
    Logarithmic,
    Linear,
}

impl Growth {
    const ALL: [Self; 3] = [Self::Constant, Self::Logarithmic, Self::Linear];

    fn of(self, nodes: f64) -> f64 {
        match self {
            Self::Constant => 0.0,
            Self::Logarithmic => nodes.ln(),
            Self::Linear => nodes,
        }
    }
}

/// A curve a + b f(n), and how far the measurements are from it: the root mean square of the logarithms
/// of their ratios, as a fraction.
#[derive(Clone, Copy, Debug)]
struct Fit {
    growth: Growth,
    a: f64,
    b: f64,
    error: f64,
}

/// The simplest curve that is not much worse than the best one.
fn fit(points: &[(f64, f64)]) -> Option<Fit> {
    let fits: Vec<Fit> = Growth::ALL.into_iter().filter_map(|growth| fit_one(points, growth)).collect();
    let best = fits.iter().map(|fit| fit.error).fold(f64::INFINITY, f64::min);
    // A curve with one number more always comes a little nearer; it has to be nearer by a fifth.
    fits.into_iter().find(|fit| fit.error <= 1.25 * best || fit.error < 0.05)
}

/// Least squares of differences relative to the curve itself, so that the fast end counts as much as the
/// slow one and neither is favoured: each round weighs by the curve of the round before.
fn fit_one(points: &[(f64, f64)], growth: Growth) -> Option<Fit> {
    let (mut a, mut b) = (0.0, 0.0);
    let mut curve: Vec<f64> = points.iter().map(|&(_, ns)| ns).collect();
    for _ in 0..50 {
        let sum = |term: fn(f64, f64) -> f64| {
            points.iter().zip(&curve).map(|(&(nodes, ns), at)| term(growth.of(nodes), ns) / (at * at)).sum::<f64>()
        };
        let (s, sf, sff) = (sum(|_, _| 1.0), sum(|f, _| f), sum(|f, _| f * f));
        let (sy, sfy) = (sum(|_, y| y), sum(|f, y| f * y));
        (a, b) = if growth == Growth::Constant {
            (sy / s, 0.0)
        } else {
            let determinant = s * sff - sf * sf;
            ((sff * sy - sf * sfy) / determinant, (s * sfy - sf * sy) / determinant)
        };
        if a < 0.0 {
            // No lookup takes less than nothing before it begins.
            (a, b) = (0.0, sfy / sff);
        }
        curve = points.iter().map(|&(nodes, _)| (a + b * growth.of(nodes)).max(f64::MIN_POSITIVE)).collect();
    }
    let squares = points.iter().zip(&curve).map(|(&(_, ns), at)| (ns / at).ln().powi(2));
    let error = (squares.sum::<f64>() / points.len() as f64).sqrt().exp_m1();
    // Nothing gets faster with more nodes; such a slope is noise that a constant tells better.
    (error.is_finite() && b >= 0.0).then_some(Fit { growth, a, b, error })
}

/// Further off than this, a curve describes nothing.
const MOST_ERROR: f64 = 0.3;

fn formula(fit: Fit) -> String {
    let Fit { growth, a, b, error } = fit;
    let slope = if b < 0.01 { format!("{b:.1e}") } else { format!("{b:.3}") };
    let curve = match growth {
        Growth::Constant => format!("{} ns", ns(a)),
        Growth::Logarithmic => format!("{} + {slope} ln n ns", ns(a)),
        Growth::Linear => format!("{} + {slope} n ns", ns(a)),
    };
    let percent = error * 100.0;
    if error > MOST_ERROR {
        return format!("none of the three; the nearest, {curve}, is off by {percent:.0} %");
    }
    format!("{curve} (off by {percent:.0} %)")
}

/// The tables for people.
pub(crate) fn text(scaling: &Value) -> String {
    let schemes = || scaling["schemes"].as_array().into_iter().flatten();
    let mut text = format!(
        "Each table is built once, with up to {} bytes while it is built. Lookups are of {} random keys in turn, so that \
         the cells they ask for do not all stay in a cache. A curve is the simplest of a constant, a + b ln n and a + b n \
         that describes the medians nearly as well as the best of them.\n\n\
         | scheme | theory of a lookup | one by one | `shard_many` | goes to |\n|---|---|---|---|---|\n",
        scaling["max_memory"], scaling["keys"]
    );
    for scheme in schemes() {
        let sizes = || scheme["sizes"].as_array().into_iter().flatten();
        let curve = |name: &str| {
            let points: Vec<(f64, f64)> =
                sizes().filter_map(|size| Some((size["nodes"].as_f64()?, size[name].as_f64()?))).collect();
            fit(&points).map_or_else(|| "–".to_owned(), formula)
        };
        let last = sizes().last().map_or_else(|| "nothing".to_owned(), |size| format!("{} nodes", size["nodes"]));
        let stops = scheme["stops"].as_str().map(|reason| format!("; stops {reason}")).unwrap_or_default();
        text.push_str(&format!(
            "| {} | {} | {} | {} | {last}{stops} |\n",
            scheme["scheme"].as_str().unwrap_or("?"),
            scheme["lookup_cost"].as_str().unwrap_or("?"),
            curve("single_ns"),
            curve("many_ns"),
        ));
    }
    text.push_str(
        "\nThe theory counts steps. Where a table no longer fits a cache, a constant number of steps takes longer, and \
         so does each step of a scheme that reads its whole table: what the curve then grows by is the machine's \
         and not the algorithm's, and no simple curve need describe it.\n\n\
         | scheme | nodes | one by one, ns | `shard_many`, ns | build, ms | heap bytes | bytes a node |\n\
         |---|--:|--:|--:|--:|--:|--:|\n",
    );
    for scheme in schemes() {
        for size in scheme["sizes"].as_array().into_iter().flatten() {
            let number = |name: &str| size[name].as_f64().unwrap_or(f64::NAN);
            text.push_str(&format!(
                "| {} | {} | {} | {} | {:.3} | {} | {:.1} |\n",
                size["spec"].as_str().unwrap_or("?"),
                size["nodes"],
                ns(number("single_ns")),
                ns(number("many_ns")),
                number("build_ns") / 1e6,
                size["heap_bytes"],
                number("heap_bytes") / number("nodes"),
            ));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODES: [f64; 6] = [10.0, 100.0, 1000.0, 1e4, 1e5, 1e6];

    /// Measurements of a curve with a few percent of noise that is the same each time.
    fn points(curve: fn(f64) -> f64) -> Vec<(f64, f64)> {
        let noise = [1.03, 0.98, 1.01, 0.97, 1.02, 0.99];
        NODES.iter().zip(noise).map(|(&nodes, noise)| (nodes, curve(nodes) * noise)).collect()
    }

    #[test]
    fn known_curves_are_found_again() {
        let found = |curve| fit(&points(curve)).unwrap();
        let constant = found(|_| 3.0);
        assert!(constant.growth == Growth::Constant && (constant.a - 3.0).abs() < 0.1, "{constant:?}");
        let logarithmic = found(|nodes| 4.0 + 6.0 * nodes.ln());
        assert!(logarithmic.growth == Growth::Logarithmic && (logarithmic.b - 6.0).abs() < 0.3, "{logarithmic:?}");
        let linear = found(|nodes| 20.0 + 0.3 * nodes);
        assert!(linear.growth == Growth::Linear && (linear.b - 0.3).abs() < 0.01, "{linear:?}");
        assert!([constant, logarithmic, linear].iter().all(|fit| fit.error < 0.03));
    }

    #[test]
    fn a_curve_that_describes_nothing_says_so() {
        // Constant as long as the table fits a cache, then twenty times as slow.
        let fit = fit(&points(|nodes| if nodes < 5000.0 { 5.0 } else { 100.0 })).unwrap();
        assert!(formula(fit).starts_with("none of the three"), "{fit:?}");
    }

    #[test]
    fn fewer_nodes_that_take_longer_are_no_curve_that_falls() {
        let falling: Vec<_> = NODES.iter().map(|&nodes| (nodes, 10.0 - nodes.ln() / 3.0)).collect();
        assert_eq!(fit(&falling).map(|fit| fit.growth), Some(Growth::Constant));
    }
}

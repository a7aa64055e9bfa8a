//! Room for a label among lines.

/// A rectangle in the pixels of a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

impl Bounds {
    fn holds(&self, other: &Self) -> bool {
        self.left <= other.left && other.right <= self.right && self.top <= other.top && other.bottom <= self.bottom
    }

    fn touches(&self, other: &Self) -> bool {
        self.left < other.right && other.left < self.right && self.top < other.bottom && other.top < self.bottom
    }

    /// Whether a straight line from one point to another passes through: what is left of it after it was cut
    /// at each of the four sides.
    fn is_crossed(&self, from: (f64, f64), to: (f64, f64)) -> bool {
        let (mut enters, mut leaves) = (0.0_f64, 1.0_f64);
        let sides = [(from.0, to.0, self.left, self.right), (from.1, to.1, self.top, self.bottom)];
        for (start, end, low, high) in sides {
            let along = end - start;
            if along == 0.0 {
                if start < low || start > high {
                    return false;
                }
                continue;
            }
            let (one, other) = ((low - start) / along, (high - start) / along);
            enters = enters.max(one.min(other));
            leaves = leaves.min(one.max(other));
        }
        enters <= leaves
    }
}

/// Where labels can stand beside the lines of a plot.
pub(super) struct Places<'a> {
    plot: Bounds,
    paths: &'a [Vec<(f64, f64)>],
    taken: Vec<Bounds>,
}

impl<'a> Places<'a> {
    pub(super) const fn new(plot: Bounds, paths: &'a [Vec<(f64, f64)>]) -> Self {
        Self { plot, paths, taken: Vec::new() }
    }

    /// Leaves a place to something else.
    pub(super) fn take(&mut self, place: Bounds) {
        self.taken.push(place);
    }

    /// Takes the free place nearest to the end of a line, or where none is free the one that crosses the
    /// fewest lines and labels; says where its text begins and the height of its middle.
    pub(super) fn find(&mut self, end: (f64, f64), wide: f64, high: f64) -> (f64, f64) {
        let mut best: Option<(usize, Bounds)> = None;
        for place in self.near(end, wide, high) {
            let crossed = self.crossed(&place);
            if best.is_none_or(|(least, _)| crossed < least) {
                best = Some((crossed, place));
            }
            if crossed == 0 {
                break;
            }
        }
        // A label upon another one cannot be read, so that then any place will do where there is none.
        if best.is_some_and(|(crossed, _)| crossed > self.paths.len()) {
            for place in self.anywhere(wide, high) {
                let crossed = self.crossed(&place);
                if best.is_none_or(|(least, _)| crossed < least) {
                    best = Some((crossed, place));
                }
            }
        }
        // Wider than the plot: at its left edge.
        let place = best.map_or(
            Bounds {
                left: self.plot.left,
                right: self.plot.left + wide,
                top: end.1 - high / 2.0,
                bottom: end.1 + high / 2.0,
            },
            |(_, place)| place,
        );
        self.taken.push(place);
        (place.left, f64::midpoint(place.top, place.bottom))
    }

    /// Places inside the plot, the nearest first: right of the end, below and above it, left of it.
    fn near(&self, end: (f64, f64), wide: f64, high: f64) -> impl Iterator<Item = Bounds> + use<> {
        let plot = self.plot;
        let steps = (0..24).map(move |step| f64::from(step) * high * 0.75);
        let places = steps.flat_map(move |by| {
            let starts = [end.0 + 10.0, end.0 - wide / 2.0, end.0 - wide - 10.0];
            [by, -by].into_iter().flat_map(move |down| {
                starts.map(|left| {
                    let (middle, half) = (end.1 + down, high / 2.0);
                    Bounds { left, right: left + wide, top: middle - half, bottom: middle + half }
                })
            })
        });
        places.filter(move |place| plot.holds(place))
    }

    /// Places all over the plot, row by row.
    fn anywhere(&self, wide: f64, high: f64) -> impl Iterator<Item = Bounds> + use<> {
        let plot = self.plot;
        let along = |from: f64, to: f64, step: f64| {
            std::iter::successors(Some(from), move |at| Some(at + step)).take_while(move |at| *at <= to)
        };
        let rows = along(plot.top, plot.bottom - high, high / 4.0);
        rows.flat_map(move |top| {
            let starts = along(plot.left, plot.right - wide, high / 2.0);
            starts.map(move |left| Bounds { left, right: left + wide, top, bottom: top + high })
        })
    }

    /// What lies in a place: a label weighs more than any number of lines, behind which it can still be read.
    fn crossed(&self, place: &Bounds) -> usize {
        let is_crossed = |path: &&Vec<(f64, f64)>| path.windows(2).any(|pair| place.is_crossed(pair[0], pair[1]));
        let lines = self.paths.iter().filter(is_crossed).count();
        lines + self.taken.iter().filter(|taken| taken.touches(place)).count() * (self.paths.len() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLOT: Bounds = Bounds { left: 0.0, right: 200.0, top: 0.0, bottom: 100.0 };

    #[test]
    fn a_line_through_a_rectangle_is_told_from_one_beside_it() {
        let middle = Bounds { left: 40.0, right: 60.0, top: 40.0, bottom: 60.0 };
        assert!(middle.is_crossed((0.0, 50.0), (100.0, 50.0)), "straight through");
        assert!(middle.is_crossed((50.0, 50.0), (51.0, 51.0)), "inside");
        assert!(middle.is_crossed((0.0, 0.0), (100.0, 100.0)), "along the diagonal");
        assert!(!middle.is_crossed((0.0, 30.0), (100.0, 30.0)), "above");
        assert!(!middle.is_crossed((0.0, 50.0), (39.0, 50.0)), "ends before it");
        assert!(!middle.is_crossed((0.0, 70.0), (30.0, 100.0)), "past the corner");
    }

    #[test]
    fn a_label_stands_right_of_an_end_unless_a_line_passes_there() {
        let end = (50.0, 50.0);
        assert_eq!(Places::new(PLOT, &[]).find(end, 60.0, 16.0), (60.0, 50.0));
        let across = [vec![(0.0, 50.0), (200.0, 50.0)]];
        let (x, y) = Places::new(PLOT, &across).find(end, 60.0, 16.0);
        assert!(x == 60.0 && y >= 58.0, "{x} {y}");
    }

    #[test]
    fn two_labels_never_share_a_place_that_is_free_elsewhere() {
        let mut places = Places::new(PLOT, &[]);
        let found: Vec<_> = (0..3).map(|_| places.find((50.0, 50.0), 60.0, 16.0)).collect();
        for (at, one) in found.iter().enumerate() {
            for other in &found[at + 1..] {
                assert!((one.0 - other.0).abs() >= 60.0 || (one.1 - other.1).abs() >= 16.0, "{found:?}");
            }
        }
    }

    #[test]
    fn a_label_without_any_free_place_still_gets_one_inside() {
        let everywhere: Vec<Vec<(f64, f64)>> =
            (0..100).map(|y| vec![(0.0, f64::from(y)), (200.0, f64::from(y))]).collect();
        let (x, y) = Places::new(PLOT, &everywhere).find((100.0, 50.0), 60.0, 16.0);
        assert!((0.0..=140.0).contains(&x) && (8.0..=92.0).contains(&y), "{x} {y}");
    }
}

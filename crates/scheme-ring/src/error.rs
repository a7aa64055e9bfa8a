/// Why a ring cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RingError {
    /// Weights, nodes and virtual nodes multiply to more points than a ring can number.
    #[error(
        "{vnodes} virtual nodes for each of {total_weight} units of weight are {points} points, and a ring takes at \
         most {max}; {advice}"
    )]
    TooManyPoints {
        /// Virtual nodes per unit of weight.
        vnodes: u32,
        /// The sum of all weights.
        total_weight: u64,
        /// The points that would be needed.
        points: u128,
        /// The points that a ring can number.
        max: u64,
        /// What would fit, for people.
        advice: String,
    },
}

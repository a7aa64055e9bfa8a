use shardlab_core::{
    About, BuildError, Disruption, Knob, LookupGrowth, Members, NodeId, OptionDoc, Promises, Resizing, Scheme, Sharder,
    SpecError,
};
use shardlab_hash::{mix64, name_hash};

use crate::{RingError, RingSharder, RingTable};

/// Points per unit of weight where nothing is said: as many as ketama gives a server.
pub const DEFAULT_VNODES: u32 = 160;

/// The largest number of points per unit of weight.
pub const MAX_VNODES: u32 = 1_000_000;

/// The increment of SplitMix64 (Steele, Lea and Flood 2014), 2^64 over the golden ratio.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

const ABOUT: About = About {
    summary: "the first point at or after the key on a circle",
    good_for: "nodes that come and go by name, weights, replicas on distinct nodes",
    bad_at: "balance with few points: loads stray by 1/sqrt(vnodes); memory and build time grow with points",
    lookup_cost: "one cell of an index and four comparisons, whatever n; two or three cache misses on a large ring",
    lookup_growth: LookupGrowth::Constant,
    heap_cost: "12 P + 4 C + 40, and 4 more if P is odd, with P = vnodes * total weight points and C = min(2^24, next power of two of 2 P / 3)",
    options: &[OptionDoc {
        name: "vnodes",
        default: "160",
        meaning: "points for each unit of a node's weight, a whole number from 1 to 1000000",
    }],
};

/// The scheme: `ring` or `ring:vnodes=V`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    vnodes: u32,
}

impl Default for Ring {
    fn default() -> Self {
        Self { vnodes: DEFAULT_VNODES }
    }
}

impl Ring {
    /// A ring with so many points for each unit of weight.
    ///
    /// # Errors
    /// `vnodes` is not from 1 to [`MAX_VNODES`].
    pub fn new(vnodes: u32) -> Result<Self, SpecError> {
        match vnodes {
            1..=MAX_VNODES => Ok(Self { vnodes }),
            _ => Self::read_vnodes(&vnodes.to_string()),
        }
    }

    fn read_vnodes(value: &str) -> Result<Self, SpecError> {
        SpecError::whole_number("vnodes", value, 1, MAX_VNODES).map(|vnodes| Self { vnodes })
    }

    /// Points per unit of weight.
    #[must_use]
    pub fn vnodes(&self) -> u32 {
        self.vnodes
    }

    /// A product of a sum below 2^63 and a number below 2^20 fits 128 bits.
    fn points(self, members: &Members) -> u128 {
        u128::from(members.total_weight()) * u128::from(self.vnodes)
    }

    /// The circle for members that were checked.
    pub(crate) fn table(self, members: &Members) -> RingTable {
        let nodes: Vec<(NodeId, u64, u64)> = members
            .ids_by_name()
            .into_iter()
            .map(|id| {
                let points = u64::from(members.weight(id)) * u64::from(self.vnodes);
                (id, name_hash(&members.name(id)), points)
            })
            .collect();
        let points = nodes.iter().flat_map(|&(id, hash, points)| {
            (1..=points).map(move |i| (mix64(hash.wrapping_add(i.wrapping_mul(GOLDEN))), id))
        });
        RingTable::new(u64::BITS, points)
    }

    /// What a person can change so that the points fit.
    fn advice(self, members: &Members) -> String {
        let total = members.total_weight();
        let divisor = common_divisor(members);
        if divisor > 1 && self.points(members) / u128::from(divisor) <= u128::from(RingTable::MAX_POINTS) {
            return format!("divide the weights by a common factor: all are multiples of {divisor}");
        }
        match RingTable::MAX_POINTS / total {
            0 => "divide the weights by a common factor and round them".to_owned(),
            vnodes => {
                format!("divide the weights by a common factor and round them, or take vnodes={vnodes} or fewer")
            }
        }
    }
}

/// The greatest common divisor of all weights.
fn common_divisor(members: &Members) -> u32 {
    if members.is_dense() {
        return 1;
    }
    let mut divisor = 0;
    for (_, _, weight) in members.iter() {
        let (mut a, mut b) = (weight, divisor);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        divisor = a;
        if divisor == 1 {
            break;
        }
    }
    divisor
}

impl Scheme for Ring {
    fn name(&self) -> &'static str {
        "ring"
    }

    fn spec(&self) -> String {
        if self.vnodes == DEFAULT_VNODES { "ring".to_owned() } else { format!("ring:vnodes={}", self.vnodes) }
    }

    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn promises(&self) -> Promises {
        Promises {
            resizing: Resizing::Any,
            disruption: Disruption::None,
            weights: true,
            order_free: true,
            citation: "Karger et al., Consistent Hashing and Random Trees, STOC 1997",
        }
    }

    fn knob(&self) -> Option<Knob> {
        Some(Knob {
            option: "vnodes",
            value: self.vnodes,
            least: 1,
            most: MAX_VNODES,
            takes: "a whole number",
            round_up: Some,
            advised_per_node: None,
        })
    }

    fn key_bits(&self) -> u32 {
        u64::BITS
    }

    fn expected_heap_bytes(&self, members: &Members) -> u64 {
        RingTable::expected_heap_bytes(u64::try_from(self.points(members)).unwrap_or(u64::MAX), u64::BITS)
    }

    fn expected_build_bytes(&self, members: &Members) -> u64 {
        // One bucket of points at a time stands beside the table, and where each bucket begins. There are
        // about as many buckets as points in one, and never more than 2^12 of large rings.
        let points = u64::try_from(self.points(members)).unwrap_or(u64::MAX);
        let bucket = points.isqrt().max(points >> 12).saturating_mul(64);
        self.expected_heap_bytes(members).saturating_add(bucket).saturating_add(20 * u64::from(members.len()))
    }

    fn with(&self, option: &str, value: &str) -> Result<Box<dyn Scheme>, SpecError> {
        match option {
            "vnodes" => Ok(Box::new(Self::read_vnodes(value)?)),
            _ => Err(SpecError::unknown(self, option)),
        }
    }

    fn check_members(&self, members: &Members) -> Result<(), BuildError> {
        let points = self.points(members);
        if points <= u128::from(RingTable::MAX_POINTS) {
            return Ok(());
        }
        Err(BuildError::Scheme(Box::new(RingError::TooManyPoints {
            vnodes: self.vnodes,
            total_weight: members.total_weight(),
            points,
            max: RingTable::MAX_POINTS,
            advice: self.advice(members),
        })))
    }

    fn build(&self, members: &Members) -> Result<Box<dyn Sharder>, BuildError> {
        self.check_members(members)?;
        Ok(Box::new(RingSharder::new(*self, members.clone())))
    }

    fn box_clone(&self) -> Box<dyn Scheme> {
        Box::new(*self)
    }
}

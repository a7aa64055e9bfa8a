use std::fmt;

use shardlab_core::{
    About, BuildError, Change, Disruption, LookupGrowth, Members, NodeId, OptionDoc, Period, Promises, Resizing,
    Scheme, Sharder, Shares, SpecError, Step, Unsupported,
};
use shardlab_kernels::Simd;
use shardlab_kernels::remainder::{Remainder, SignedRemainder};

const ABOUT: About = About {
    summary: "key mod n",
    good_for: "a number of nodes that never changes",
    bad_at: "resizing: n to n+1 moves n/(n+1) of the keys; keys with a common divisor",
    lookup_cost: "one remainder",
    lookup_growth: LookupGrowth::Constant,
    heap_cost: "0",
    options: &[OptionDoc {
        name: "signed",
        default: "off",
        meaning: "i32: floorMod of the low 32 bits read as a signed number, as Java systems do",
    }],
};

/// The scheme: `modulo` or `modulo:signed=i32`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modulo {
    /// Whether the low 32 bits are read as a signed number.
    pub signed: bool,
}

impl Scheme for Modulo {
    fn name(&self) -> &'static str {
        "modulo"
    }

    fn spec(&self) -> String {
        if self.signed { "modulo:signed=i32" } else { "modulo" }.to_owned()
    }

    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn promises(&self) -> Promises {
        Promises {
            resizing: Resizing::TailOnly,
            disruption: Disruption::Unbounded,
            weights: false,
            order_free: false,
            citation: "division hashing; Knuth, The Art of Computer Programming 3, section 6.4",
        }
    }

    fn largest_share_gap(&self) -> Option<u128> {
        Some(1)
    }

    fn expected_heap_bytes(&self, _members: &Members) -> u64 {
        0
    }

    fn with(&self, option: &str, value: &str) -> Result<Box<dyn Scheme>, SpecError> {
        match (option, value) {
            ("signed", "i32") => Ok(Box::new(Self { signed: true })),
            ("signed", _) => {
                Err(SpecError::bad_value(option, value, "i32 (leave the option out for unsigned 64-bit keys)"))
            }
            _ => Err(SpecError::unknown(self, option)),
        }
    }

    fn check_members(&self, members: &Members) -> Result<(), BuildError> {
        BuildError::refuse_weights("modulo", members)
    }

    fn build(&self, members: &Members) -> Result<Box<dyn Sharder>, BuildError> {
        self.check_members(members)?;
        let members = members.clone();
        Ok(if self.signed {
            Box::new(ModuloSharder::<SignedRemainder>::new(*self, members))
        } else {
            Box::new(ModuloSharder::<Remainder>::new(*self, members))
        })
    }

    fn box_clone(&self) -> Box<dyn Scheme> {
        Box::new(*self)
    }
}

/// How a key becomes a node. The divisor is known before any key is, so that no key is divided.
trait Division: Copy + fmt::Debug + Send + Sync + 'static {
    fn by(nodes: u32) -> Self;
    fn of(self, key: u64) -> u32;
    fn of_many(self, simd: Simd, keys: &[u64], out: &mut [u32]);
}

impl Division for Remainder {
    fn by(nodes: u32) -> Self {
        Self::new(nodes)
    }

    fn of(self, key: u64) -> u32 {
        self.of(key)
    }

    fn of_many(self, simd: Simd, keys: &[u64], out: &mut [u32]) {
        self.of_many(simd, keys, out);
    }
}

impl Division for SignedRemainder {
    fn by(nodes: u32) -> Self {
        Self::floored(nodes, nodes)
    }

    fn of(self, key: u64) -> u32 {
        self.of(key)
    }

    fn of_many(self, simd: Simd, keys: &[u64], out: &mut [u32]) {
        self.of_many(simd, keys, out);
    }
}

/// A built instance. Its kind of division is a type, since a lookup costs as little as asking for it.
#[derive(Clone, Debug)]
struct ModuloSharder<D> {
    scheme: Modulo,
    members: Members,
    division: D,
    simd: Simd,
}

impl<D: Division> ModuloSharder<D> {
    fn new(scheme: Modulo, members: Members) -> Self {
        Self { scheme, division: D::by(members.len()), members, simd: Simd::best() }
    }
}

/// Reads the low 32 bits as a signed number.
#[expect(clippy::cast_possible_truncation, reason = "the low 32 bits are what Java systems hash to")]
fn low_signed(key: u64) -> i32 {
    (key as u32).cast_signed()
}

impl<D: Division> Sharder for ModuloSharder<D> {
    fn shard(&self, key: u64) -> NodeId {
        NodeId(self.division.of(key))
    }

    fn shard_many(&self, keys: &[u64], out: &mut [NodeId]) {
        self.division.of_many(self.simd, keys, NodeId::numbers_mut(out));
    }

    fn members(&self) -> &Members {
        &self.members
    }

    fn heap_bytes(&self) -> usize {
        0
    }

    fn apply(&mut self, change: &Change) -> Result<(), Unsupported> {
        let after = change.at_the_tail("modulo", &self.members)?;
        self.scheme.check_members(&after)?;
        *self = Self::new(self.scheme, after);
        Ok(())
    }

    fn exact_shares(&self) -> Option<Shares> {
        let period = self.period()?;
        let parts = (0..period.modulus).map(|bucket| period.keys_of(bucket)).collect();
        Some(Shares { parts, whole: period.keys() })
    }

    fn period(&self) -> Option<Period> {
        Some(Period { modulus: self.members.len().into(), signed: self.scheme.signed })
    }

    fn explain(&self, key: u64) -> Vec<Step> {
        let n = self.members.len();
        let bucket = self.shard(key);
        if self.scheme.signed {
            vec![Step::new("floorMod", format!("{} mod {n} = {bucket}", low_signed(key)))]
        } else {
            vec![Step::new("remainder", format!("{key} mod {n} = {bucket}"))]
        }
    }

    fn box_clone(&self) -> Box<dyn Sharder> {
        Box::new(self.clone())
    }
}

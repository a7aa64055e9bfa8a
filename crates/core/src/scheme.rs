use std::fmt;

use crate::{BuildError, KeyHasher, KeyRules, Members, Sharder, SpecError};

/// Which changes of membership a scheme can follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resizing {
    /// Any node can join or leave.
    Any,
    /// Nodes join and leave at the end of the list alone.
    TailOnly,
    /// The count changes by whole factors.
    Factors,
}

/// How many keys move between two nodes that both survive a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disruption {
    /// No key at all.
    None,
    /// A few, growing with nodes over table size.
    Near,
    /// As many as it happens to be, often most of them.
    Unbounded,
}

/// What a scheme promises. The conformance suite tests each promise both ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Promises {
    /// The changes it can follow.
    pub resizing: Resizing,
    /// Movement between survivors.
    pub disruption: Disruption,
    /// Whether nodes own in proportion to their weights.
    pub weights: bool,
    /// Whether the order of the node list never matters.
    pub order_free: bool,
    /// Who invented it: paper, program or specification.
    pub citation: &'static str,
}

/// An option of a scheme, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionDoc {
    /// The name in a spec.
    pub name: &'static str,
    /// What it takes when nothing is said.
    pub default: &'static str,
    /// What it does and which values it takes.
    pub meaning: &'static str,
}

/// How the steps of a lookup grow with the number of nodes n. A table that outgrows a cache makes equal steps
/// slower; that is not counted here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LookupGrowth {
    /// The same for every n.
    Constant,
    /// With the logarithm of n.
    Logarithmic,
    /// With n.
    Linear,
}

impl LookupGrowth {
    /// The word in every output.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::Logarithmic => "with ln n",
            Self::Linear => "with n",
        }
    }
}

/// What a table of schemes says about one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About {
    /// One line: the idea.
    pub summary: &'static str,
    /// When to use it.
    pub good_for: &'static str,
    /// What it is bad at.
    pub bad_at: &'static str,
    /// The time of a lookup as a closed form.
    pub lookup_cost: &'static str,
    /// How that grows with the number of nodes.
    pub lookup_growth: LookupGrowth,
    /// The heap as a closed form, in bytes.
    pub heap_cost: &'static str,
    /// The options, in alphabetical order.
    pub options: &'static [OptionDoc],
}

/// The option of a scheme that buys balance with memory, for tuning.
#[derive(Clone, Copy, Debug)]
pub struct Knob {
    /// Its name in a spec.
    pub option: &'static str,
    /// Its present value.
    pub value: u32,
    /// The smallest value.
    pub least: u32,
    /// The largest value.
    pub most: u32,
    /// Which values it takes, such as "a prime".
    pub takes: &'static str,
    /// The smallest value it takes that is not below the given one, if there is one.
    pub round_up: fn(u32) -> Option<u32>,
    /// How much of it for each node is advised for other reasons than balance.
    pub advised_per_node: Option<u32>,
}

/// A configured factory: one registry entry, one spec string such as `ring:vnodes=160`.
///
/// # Implementing
/// Options arrive one by one through [`with`](Scheme::with), which checks each alone;
/// [`check`](Scheme::check) sees them together. [`check_members`](Scheme::check_members) decides
/// everything that can be decided before memory is taken, and [`build`](Scheme::build) calls both.
pub trait Scheme: fmt::Debug + Send + Sync {
    /// The name in specs, such as `ring`.
    fn name(&self) -> &'static str;

    /// The canonical spec: options that differ from their defaults, in alphabetical order.
    fn spec(&self) -> String;

    /// What it is, for people.
    fn about(&self) -> &'static About;

    /// What it promises.
    fn promises(&self) -> Promises;

    /// The system's own word for its nodes in a spec: "shards" beside the word "nodes" that every
    /// scheme takes.
    fn members_word(&self) -> &'static str {
        "nodes"
    }

    /// The option that buys balance with memory, where there is one.
    fn knob(&self) -> Option<Knob> {
        None
    }

    /// What a reader must be told about this configuration, such as a default that matters.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// The same for a known membership, where numbers can be given.
    fn notes_for(&self, members: &Members) -> Vec<String> {
        let _ = members;
        self.notes()
    }

    /// The configurations that a comparison of everything shows; usually the default alone.
    fn comparison_rows(&self) -> Vec<Box<dyn Scheme>> {
        vec![self.box_clone()]
    }

    /// The hash that belongs to the system, used unless another is asked for.
    fn native_hasher(&self) -> Option<Box<dyn KeyHasher>> {
        None
    }

    /// Wraps the chosen hash where the scheme combines several values into a key.
    fn adapt_hasher(&self, chosen: Box<dyn KeyHasher>) -> Box<dyn KeyHasher> {
        chosen
    }

    /// What the modelled system demands of a document, whatever the hash.
    fn key_rules(&self) -> KeyRules {
        KeyRules::default()
    }

    /// How many bits of a key the scheme reads as a position: 64 for one that looks at the high
    /// bits, so that hashes of 32 bits fill only a corner of its space.
    fn key_bits(&self) -> u32 {
        0
    }

    /// By how many units the exact shares of two nodes may differ at equal weights, for schemes that
    /// promise it. A measurement that shows more is an error of the scheme, not a result.
    fn largest_share_gap(&self) -> Option<u128> {
        None
    }

    /// The closed form of [`Sharder::heap_bytes`] for this membership, so that a caller can refuse
    /// before anything is built. Never less than what is built.
    fn expected_heap_bytes(&self, members: &Members) -> u64;

    /// The most bytes of heap that building takes at once, the finished structure included. Equal to
    /// [`expected_heap_bytes`](Scheme::expected_heap_bytes) where nothing else is needed.
    fn expected_build_bytes(&self, members: &Members) -> u64 {
        self.expected_heap_bytes(members)
    }

    /// The scheme with one option set.
    ///
    /// # Errors
    /// There is no such option, or the value is not one it takes.
    fn with(&self, option: &str, value: &str) -> Result<Box<dyn Scheme>, SpecError>;

    /// Whether the options fit together.
    ///
    /// # Errors
    /// [`SpecError::Contradiction`].
    fn check(&self) -> Result<(), SpecError> {
        Ok(())
    }

    /// Whether it can be built for these members, without building it.
    ///
    /// # Errors
    /// See [`BuildError`].
    fn check_members(&self, members: &Members) -> Result<(), BuildError>;

    /// Builds an instance.
    ///
    /// # Errors
    /// What [`check`](Scheme::check) and [`check_members`](Scheme::check_members) refuse.
    fn build(&self, members: &Members) -> Result<Box<dyn Sharder>, BuildError>;

    /// A copy behind a new box.
    fn box_clone(&self) -> Box<dyn Scheme>;
}

impl BuildError {
    /// Refuses weights for a scheme that takes none.
    ///
    /// # Errors
    /// Some node has a weight other than 1.
    pub fn refuse_weights(scheme: &'static str, members: &Members) -> Result<(), Self> {
        match members.first_weighted() {
            None => Ok(()),
            Some(node) => Err(Self::WeightsUnsupported { scheme, node: node.name().to_owned(), weight: node.weight() }),
        }
    }
}

impl SpecError {
    /// The error for an option that a scheme does not have.
    #[must_use]
    pub fn unknown(scheme: &dyn Scheme, option: &str) -> Self {
        let names: Vec<&str> = scheme.about().options.iter().map(|option| option.name).collect();
        let known = if names.is_empty() { "no options".to_owned() } else { names.join(", ") };
        Self::UnknownOption { scheme: scheme.name(), option: option.to_owned(), known }
    }

    /// Reads a whole number of an option within bounds, written in plain decimal digits.
    ///
    /// # Errors
    /// [`SpecError::BadValue`] that names the bounds.
    pub fn whole_number(option: &str, value: &str, min: u32, max: u32) -> Result<u32, Self> {
        let digits = value.bytes().all(|byte| byte.is_ascii_digit());
        match value.parse::<u32>() {
            Ok(number) if digits && (min..=max).contains(&number) => Ok(number),
            _ => Err(Self::bad_value(option, value, format!("a whole number from {min} to {max}"))),
        }
    }

    /// The error for a value that an option does not take.
    #[must_use]
    pub fn bad_value(option: &str, value: &str, expected: impl Into<String>) -> Self {
        Self::BadValue { option: option.to_owned(), value: value.to_owned(), expected: expected.into() }
    }
}

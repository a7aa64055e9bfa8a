use shardlab_core::{
    About, BuildError, Disruption, Knob, LookupGrowth, Members, NodeId, OptionDoc, Promises, Resizing, Scheme, Sharder,
    SpecError,
};
use shardlab_hash::{mix64, name_hash};

use crate::sharder::{Entries, NARROW_NODES};
use crate::{MaglevError, MaglevSharder, Permutation, is_prime, next_prime, populate, targets, turns};

/// Slots of the table where nothing is said: the smaller of the paper's two sizes.
pub const DEFAULT_TABLE: u32 = 65_537;

/// The largest table, a prime.
pub const MAX_TABLE: u32 = 2_147_483_647;

const ABOUT: About = About {
    summary: "a table of prime size that nodes fill in turns, each in an order of its own",
    good_for: "constant lookup time and slot counts that differ by one at most",
    bad_at: "changes: a few keys move between survivors, more the fewer slots there are for each node; every change \
             fills the whole table anew",
    lookup_cost: "two products and one read of the table",
    lookup_growth: LookupGrowth::Constant,
    heap_cost: "2 M up to 65536 nodes, else 4 M, with M slots",
    options: &[OptionDoc {
        name: "table",
        default: "65537",
        meaning: "slots, a prime from 2 to 2147483647 and at least the number of nodes; 100 for each node are advised",
    }],
};

/// The scheme: `maglev` or `maglev:table=M`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Maglev {
    table: u32,
}

impl Default for Maglev {
    fn default() -> Self {
        Self { table: DEFAULT_TABLE }
    }
}

impl Maglev {
    /// A table of so many slots.
    ///
    /// # Errors
    /// The number is not a prime up to [`MAX_TABLE`]; the error names the next prime.
    pub fn new(table: u32) -> Result<Self, SpecError> {
        Self::read_table(&table.to_string())
    }

    fn read_table(value: &str) -> Result<Self, SpecError> {
        let table = SpecError::whole_number("table", value, 1, MAX_TABLE).map_err(|_| {
            SpecError::bad_value("table", value, format!("a prime from 2 to {MAX_TABLE}, at least the number of nodes"))
        })?;
        if is_prime(table) {
            return Ok(Self { table });
        }
        // The largest table is a prime, so there is always a next one.
        let next = next_prime(table).unwrap_or(MAX_TABLE);
        let expected = format!(
            "{table} is not prime; the next prime is {next} (in a table of composite size some nodes cannot reach \
             all slots; 100 slots for each node or more are advised)"
        );
        Err(SpecError::bad_value("table", value, expected))
    }

    /// Slots of the table.
    #[must_use]
    pub fn table(&self) -> u32 {
        self.table
    }

    /// The slots of each node in the order of names, where weights differ.
    fn weighted_targets(self, members: &Members, by_name: &[NodeId]) -> Option<Vec<u32>> {
        (!members.equal_weights()).then(|| {
            let weights: Vec<u32> = by_name.iter().map(|&id| members.weight(id)).collect();
            targets(self.table, &weights)
        })
    }

    /// How a node's name sets its permutation.
    fn permutation(self, name: &str) -> Permutation {
        let first = name_hash(name);
        let below = |hash: u64, n: u32| {
            u32::try_from(hash % u64::from(n)).unwrap_or_else(|_| unreachable!("a remainder of a u32 fits one"))
        };
        Permutation { offset: below(first, self.table), skip: below(mix64(first), self.table - 1) + 1 }
    }

    /// The table for members that were checked.
    pub(crate) fn fill(self, members: &Members) -> Entries {
        let by_name = members.ids_by_name();
        let permutations: Vec<Permutation> = by_name.iter().map(|&id| self.permutation(&members.name(id))).collect();
        let targets = self.weighted_targets(members, &by_name);
        if members.len() <= NARROW_NODES {
            let narrow = |id: &NodeId| u16::try_from(id.0).unwrap_or_else(|_| unreachable!("at most 65,536 nodes"));
            let nodes: Vec<u16> = by_name.iter().map(narrow).collect();
            Entries::Narrow(self.entries(&permutations, targets.as_deref(), &nodes))
        } else {
            Entries::Wide(self.entries(&permutations, targets.as_deref(), &by_name))
        }
    }

    /// The entry of each slot, where the node of each permutation has that of `nodes`.
    fn entries<T: Copy + Default>(
        self,
        permutations: &[Permutation],
        targets: Option<&[u32]>,
        nodes: &[T],
    ) -> Box<[T]> {
        let mut entries = vec![T::default(); self.table as usize].into_boxed_slice();
        let place = |slot: u32, node: u32| entries[slot as usize] = nodes[node as usize];
        match targets {
            Some(targets) => populate(permutations, turns(targets).into_iter(), self.table, place),
            None => {
                let nodes = (0..).take(nodes.len());
                populate(permutations, nodes.cycle().take(self.table as usize), self.table, place);
            }
        }
        entries
    }
}

impl Scheme for Maglev {
    fn name(&self) -> &'static str {
        "maglev"
    }

    fn spec(&self) -> String {
        if self.table == DEFAULT_TABLE { "maglev".to_owned() } else { format!("maglev:table={}", self.table) }
    }

    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn promises(&self) -> Promises {
        Promises {
            resizing: Resizing::Any,
            disruption: Disruption::Near,
            weights: true,
            order_free: true,
            citation: "Eisenbud et al., Maglev: A Fast and Reliable Software Network Load Balancer, NSDI 2016",
        }
    }

    fn knob(&self) -> Option<Knob> {
        Some(Knob {
            option: "table",
            value: self.table,
            least: 2,
            most: MAX_TABLE,
            takes: "a prime",
            round_up: next_prime,
            advised_per_node: Some(100),
        })
    }

    fn largest_share_gap(&self) -> Option<u128> {
        Some(1)
    }

    fn expected_heap_bytes(&self, members: &Members) -> u64 {
        u64::from(self.table) * if members.len() <= NARROW_NODES { 2 } else { 4 }
    }

    fn expected_build_bytes(&self, members: &Members) -> u64 {
        let turns = if members.equal_weights() { 0 } else { 8 * u64::from(self.table) };
        // Ids by name and entries, permutations, walks with the steps of a look, factors of the last turns.
        let nodes = (4 + 4 + 8 + 8 + 64 + 16) * u64::from(members.len());
        self.expected_heap_bytes(members) + u64::from(self.table) / 8 + nodes + turns
    }

    fn with(&self, option: &str, value: &str) -> Result<Box<dyn Scheme>, SpecError> {
        match option {
            "table" => Ok(Box::new(Self::read_table(value)?)),
            _ => Err(SpecError::unknown(self, option)),
        }
    }

    fn check_members(&self, members: &Members) -> Result<(), BuildError> {
        let (table, nodes) = (self.table, members.len());
        if nodes > table {
            let next_prime = next_prime(nodes).unwrap_or(MAX_TABLE);
            return Err(BuildError::Scheme(Box::new(MaglevError::TableTooSmall { table, nodes, next_prime })));
        }
        if members.equal_weights() {
            return Ok(());
        }
        let by_name = members.ids_by_name();
        let Some(targets) = self.weighted_targets(members, &by_name) else { return Ok(()) };
        let Some((&id, _)) = by_name.iter().zip(targets).find(|(_, target)| *target == 0) else { return Ok(()) };
        let total_weight = members.total_weight();
        let lightest = members.iter().map(|(_, _, weight)| weight).min().unwrap_or(1);
        let needed = u32::try_from(total_weight.div_ceil(u64::from(lightest))).ok().and_then(next_prime);
        Err(BuildError::Scheme(Box::new(MaglevError::NoSlot {
            node: members.name(id).into_owned(),
            weight: members.weight(id),
            total_weight,
            table,
            needed: needed.filter(|&table| table <= MAX_TABLE),
        })))
    }

    fn build(&self, members: &Members) -> Result<Box<dyn Sharder>, BuildError> {
        self.check_members(members)?;
        Ok(Box::new(MaglevSharder::new(*self, members.clone())))
    }

    fn box_clone(&self) -> Box<dyn Scheme> {
        Box::new(*self)
    }
}

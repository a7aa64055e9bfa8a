use shardlab_core::{
    About, BuildError, Disruption, KeyHasher, KeyRules, LookupGrowth, MAX_NODES, Members, OptionDoc, Promises,
    Resizing, Scheme, Sharder, SpecError,
};
use shardlab_hash::{Djb2, EsMurmur3, Partitioned};

use crate::index::MAX_ROUTING_SHARDS;
use crate::{Created, DEFAULT_MAX_SHARDS, ElasticSharder, Generation, Index, IndexError, check_shards};

/// The longest `_id` that a server takes, in bytes of UTF-8. Routing values have no limit.
const MAX_ID_BYTES: usize = 512;

const ABOUT: About = About {
    summary: "Elasticsearch and OpenSearch: Murmur3 of the routing value or id onto routing shards or shards",
    good_for: "finding where documents of an index stand, and what a split, shrink or reindex costs",
    bad_at: "counts that are no factors of one another: those need a reindex, which moves nearly everything",
    lookup_cost: "two multiplications",
    lookup_growth: LookupGrowth::Constant,
    heap_cost: "0",
    options: &[
        OptionDoc {
            name: "created",
            default: "9.4",
            meaning: "the version that created the index: MAJOR.MINOR[.PATCH], a whole major such as 8.x or 1.x \
                (not 9.x, which spans two generations), or opensearch",
        },
        OptionDoc {
            name: "max_shards",
            default: "1024",
            meaning: "the servers' limit of shards per index, es.index.max_number_of_shards",
        },
        OptionDoc {
            name: "partition",
            default: "1",
            meaning: "index.routing_partition_size, below the routing shards; 1 is off; since 5.3",
        },
        OptionDoc {
            name: "routing_shards",
            default: "by version",
            meaning: "index.number_of_routing_shards, a multiple of the shards; since 5.0. The default is the number \
                of shards before 7.0, since then that number doubled up to 1024 (once above 512 shards)",
        },
    ],
};

/// The scheme, such as `elastic:created=8.15,partition=3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elastic {
    /// The version that created the index; the newest generation is assumed where nothing is said.
    pub created: Option<Created>,
    /// The limit of shards per index.
    pub max_shards: u32,
    /// `index.routing_partition_size`; 1 is off.
    pub partition: u32,
    /// `index.number_of_routing_shards`, where it was set.
    pub routing_shards: Option<u32>,
}

impl Default for Elastic {
    fn default() -> Self {
        Self { created: None, max_shards: DEFAULT_MAX_SHARDS, partition: 1, routing_shards: None }
    }
}

impl Elastic {
    /// The version that the index is taken to be created on.
    #[must_use]
    pub fn created_or_newest(&self) -> Created {
        self.created.unwrap_or(Created::NEWEST)
    }

    /// How the index routes.
    #[must_use]
    pub fn generation(&self) -> Generation {
        self.created_or_newest().generation()
    }

    /// The index of so many shards.
    ///
    /// # Errors
    /// A server would refuse to create it.
    pub fn index(&self, shards: u32) -> Result<Index, IndexError> {
        check_shards(shards, self.max_shards)?;
        Index::new(self.generation(), shards, self.routing_shards, self.partition)
    }

    fn checked_index(&self, members: &Members) -> Result<Index, BuildError> {
        self.check()?;
        BuildError::refuse_weights("elastic", members)?;
        self.index(members.len()).map_err(|error| BuildError::Scheme(Box::new(error)))
    }
}

impl Scheme for Elastic {
    fn name(&self) -> &'static str {
        "elastic"
    }

    fn spec(&self) -> String {
        let mut spec = format!("elastic:created={}", self.created_or_newest());
        if self.max_shards != DEFAULT_MAX_SHARDS {
            spec += &format!(",max_shards={}", self.max_shards);
        }
        if self.partition != 1 {
            spec += &format!(",partition={}", self.partition);
        }
        if let Some(routing_shards) = self.routing_shards {
            spec += &format!(",routing_shards={routing_shards}");
        }
        spec
    }

    fn members_word(&self) -> &'static str {
        "shards"
    }

    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn promises(&self) -> Promises {
        Promises {
            resizing: Resizing::Factors,
            // Where the place is a remainder by n, a split moves documents to new shards alone and a
            // shrink takes them off removed ones alone. Ranges of routing shards renumber everything.
            disruption: if self.generation().is_modular() { Disruption::None } else { Disruption::Unbounded },
            weights: false,
            order_free: false,
            citation: "Elasticsearch: OperationRouting and Murmur3HashFunction (2.0 to 9.3), IndexRouting and \
                RoutingFunction (9.4), DjbHashFunction (1.x); OpenSearch: OperationRouting",
        }
    }

    fn notes(&self) -> Vec<String> {
        crate::notes::notes(self, None)
    }

    fn notes_for(&self, members: &Members) -> Vec<String> {
        crate::notes::notes(self, self.index(members.len()).ok())
    }

    /// The two generations in use, since an index of either may stand on the same cluster.
    fn comparison_rows(&self) -> Vec<Box<dyn Scheme>> {
        let row = |minor_of| -> Box<dyn Scheme> { Box::new(Self { created: Some(minor_of), ..*self }) };
        vec![row(Created::Version { major: 8, minor: 15, patch: None }), row(Created::NEWEST)]
    }

    fn native_hasher(&self) -> Option<Box<dyn KeyHasher>> {
        Some(if self.generation() == Generation::Djb2 { Box::new(Djb2) } else { Box::new(EsMurmur3) })
    }

    fn adapt_hasher(&self, chosen: Box<dyn KeyHasher>) -> Box<dyn KeyHasher> {
        if self.partition > 1 { Box::new(Partitioned::new(chosen, self.partition)) } else { chosen }
    }

    fn key_rules(&self) -> KeyRules {
        KeyRules { id_not_empty: true, id_max_bytes: Some(MAX_ID_BYTES), ..KeyRules::default() }
    }

    fn largest_share_gap(&self) -> Option<u128> {
        match self.generation() {
            // The 2^32 hashes are dealt round by round, and only the last round is not full.
            Generation::ShardCount => Some(1),
            // As before for either sign.
            Generation::Djb2 => Some(2),
            // A shard owns a run of residues, so the gap grows with the routing factor.
            Generation::ShardsAsRoutingShards | Generation::DefaultRoutingShards => None,
        }
    }

    fn expected_heap_bytes(&self, _members: &Members) -> u64 {
        0
    }

    fn with(&self, option: &str, value: &str) -> Result<Box<dyn Scheme>, SpecError> {
        let number = |max| SpecError::whole_number(option, value, 1, max);
        Ok(Box::new(match option {
            "created" => Self { created: Some(Created::parse(value)?), ..*self },
            "max_shards" => Self { max_shards: number(MAX_NODES)?, ..*self },
            "partition" => Self { partition: number(MAX_ROUTING_SHARDS)?, ..*self },
            "routing_shards" => Self { routing_shards: Some(number(MAX_ROUTING_SHARDS)?), ..*self },
            _ => return Err(SpecError::unknown(self, option)),
        }))
    }

    fn check(&self) -> Result<(), SpecError> {
        let created = self.created_or_newest();
        let contradiction = |reason| Err(SpecError::Contradiction { reason });
        match self.routing_shards {
            Some(number) if !created.has_routing_shards() => contradiction(format!(
                "routing_shards={number} contradicts created={created}: an index has routing shards of its own since \
                 5.0; leave the option out"
            )),
            Some(number) if self.partition > 1 && self.partition >= number => contradiction(format!(
                "partition={} must be below routing_shards={number}, so at most {}",
                self.partition,
                number - 1
            )),
            _ if self.partition > 1 && !created.has_partitions() => contradiction(format!(
                "partition={} contradicts created={created}: an index can be partitioned since 5.3; leave the option \
                 out",
                self.partition
            )),
            _ => Ok(()),
        }
    }

    fn check_members(&self, members: &Members) -> Result<(), BuildError> {
        self.checked_index(members).map(drop)
    }

    fn build(&self, members: &Members) -> Result<Box<dyn Sharder>, BuildError> {
        let index = self.checked_index(members)?;
        Ok(Box::new(ElasticSharder::new(index, self.max_shards, members.clone())))
    }

    fn box_clone(&self) -> Box<dyn Scheme> {
        Box::new(*self)
    }
}

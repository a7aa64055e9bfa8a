//! The published crates beside ours, asked the same question about the same keys.
//!
//! Each contest is a question with the crates that answer it and our two ways: one key at a time
//! through `dyn Sharder::shard`, and batches through `shard_many`, on what the registry builds. What a
//! crate makes of a key before it looks it up is part of its time, since its users cannot leave that
//! out; the contest says where that makes the comparison unequal.
//!
//! Before anything is timed, every crate has to give a right answer: the same as ours bit for bit where
//! both implement one definition, else a balance and a movement that its algorithm promises.

use std::hash::{BuildHasherDefault, DefaultHasher, Hash};
use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use shardlab_core::{KeyHasher, NodeId, RawChunk, RawKey, Sharder};
use shardlab_harness::{BATCH, Cycle, batches, documents, singles};
use shardlab_hash::EsMurmur3;
use shardlab_kernels::Simd;
use shardlab_kernels::mix::{xxh3_u64, xxh3_u64_many};
use simplehash::rendezvous::RendezvousHasher;

use crate::support::{KEYS, chunk, dense, ids_of_mixed_lengths, ids_of_one_length, random_keys, scheme, sharder};

/// Does so many units of work and returns something that depends on their answers.
pub(crate) type Work<'a> = Box<dyn FnMut(usize) -> u64 + 'a>;

/// Somebody who answers.
pub(crate) struct Subject<'a> {
    /// The crate and its version, or our spec.
    pub(crate) name: &'static str,
    /// How many operations a unit of its work is: 1, but for whole batches of documents.
    pub(crate) unit: usize,
    pub(crate) work: Work<'a>,
}

impl<'a> Subject<'a> {
    fn new(name: &'static str, work: impl FnMut(usize) -> u64 + 'a) -> Self {
        Self { name, unit: 1, work: Box::new(work) }
    }
}

/// A question with all who answer it.
pub(crate) struct Contest<'a> {
    /// The name under which targets know it.
    pub(crate) question: &'static str,
    /// Nodes of every table.
    pub(crate) nodes: u32,
    /// Our spec.
    pub(crate) spec: &'static str,
    pub(crate) published: Vec<Subject<'a>>,
    /// Ours, one key at a time; for builds, our build.
    pub(crate) single: Subject<'a>,
    /// Ours, in batches.
    pub(crate) many: Option<Subject<'a>>,
    /// What a reader must know before believing the ratio.
    pub(crate) comparability: &'static str,
}

/// The generation of Elasticsearch whose routing is two remainders that anybody writes in a line.
const ELASTIC: &str = "elastic:created=8.15";

/// Everything that is made before any clock starts.
pub(crate) struct Stage {
    nodes: u32,
    keys: Vec<u64>,
    /// The keys as 16 bytes, which is what a string key of a cache often is.
    wide_keys: Vec<[u8; 16]>,
    ids: Vec<String>,
    ids_parts: Vec<RawChunk>,
    mixed: Vec<String>,
    mixed_parts: Vec<RawChunk>,
    elastic: Box<dyn Sharder>,
    /// Routing shards and the routing factor of that index.
    routing: (i32, i32),
    modulo: Box<dyn Sharder>,
    jump: Box<dyn Sharder>,
    ring: Box<dyn Sharder>,
    rendezvous: Box<dyn Sharder>,
    maglev: Box<dyn Sharder>,
    large_maglev: Box<dyn Sharder>,
    ketama: pingora_ketama::Continuum,
    hashring: hashring::HashRing<Point>,
    tables: [maglev_hash::MaglevTable<u32>; 2],
    anchor: Anchor,
    multi_probe: mpchash::HashRing<u32>,
    node_list: Vec<u64>,
}

type Anchor = anchorhash::AnchorHash<u64, u32, BuildHasherDefault<DefaultHasher>>;

/// A virtual node, as hashring's documentation makes them.
#[derive(Clone, Copy, Debug, Hash, PartialEq)]
pub(crate) struct Point {
    node: u32,
    number: u32,
}

/// As many points as pingora-ketama and our ring give a node of weight 1.
const POINTS: u32 = 160;

/// The smaller and the larger table of the Maglev paper.
const TABLES: [usize; 2] = [65_537, 655_373];

fn address(node: u32) -> SocketAddr {
    let [_, a, b, c] = node.to_be_bytes();
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, a, b, c)), 8080)
}

fn ketama(nodes: u32) -> pingora_ketama::Continuum {
    let buckets: Vec<_> = (0..nodes).map(|node| pingora_ketama::Bucket::new(address(node), 1)).collect();
    pingora_ketama::Continuum::new(&buckets)
}

fn hashring(nodes: u32) -> hashring::HashRing<Point> {
    let mut ring = hashring::HashRing::new();
    ring.batch_add((0..nodes).flat_map(|node| (0..POINTS).map(move |number| Point { node, number })).collect());
    ring
}

fn maglev_table(nodes: u32, slots: usize) -> maglev_hash::MaglevTable<u32> {
    maglev_hash::MaglevTable::with_capacity((0..nodes).collect(), slots)
}

fn multi_probe(nodes: u32) -> mpchash::HashRing<u32> {
    let ring = mpchash::HashRing::new();
    (0..nodes).for_each(|node| ring.add(node));
    ring
}

fn anchor(nodes: u32) -> Anchor {
    // Room for twice as many nodes: capacity is what its users pay for growth.
    let capacity = u16::try_from(2 * nodes).expect("few enough nodes for its 16 bits");
    anchorhash::Builder::with_hasher(BuildHasherDefault::default()).with_resources(0..nodes).build(capacity)
}

/// The routing of Elasticsearch by mur3, in the way a program without shardlab writes it: UTF-16 code
/// units into a buffer that is used again, then the hash, then the shard.
fn mur3_shard(id: &str, units: &mut Vec<u8>, routing: (i32, i32)) -> u64 {
    units.clear();
    units.extend(id.encode_utf16().flat_map(u16::to_le_bytes));
    let hash = mur3::murmurhash3_x86_32(units, 0).cast_signed();
    u64::from((hash.rem_euclid(routing.0) / routing.1).cast_unsigned())
}

/// simplehash with a hasher of its own or of the standard library; the fastest stands for it.
fn rendezvous_of<H: std::hash::Hasher + Default>() -> RendezvousHasher<H, BuildHasherDefault<H>> {
    RendezvousHasher::new(BuildHasherDefault::default())
}

impl Stage {
    /// Makes keys and tables for so many nodes (at most 1000), and checks every answer. `names` are ids
    /// of mixed lengths to use in place of synthetic ones.
    pub(crate) fn new(nodes: u32, names: Option<Vec<String>>) -> Self {
        let keys = random_keys(KEYS, 6);
        let wide = keys.iter().map(|&key| {
            let mut wide = [0; 16];
            wide[..8].copy_from_slice(&key.to_le_bytes());
            wide[8..].copy_from_slice(&shardlab_hash::mix64(key).to_le_bytes());
            wide
        });
        let parts = |ids: &[String]| {
            ids.chunks_exact(BATCH).map(|part| chunk(part.iter().map(|id| id.as_bytes()))).collect::<Vec<_>>()
        };
        let ids = ids_of_one_length(KEYS, 20);
        let mixed = names.unwrap_or_else(|| ids_of_mixed_lengths(KEYS));
        assert!(mixed.len() >= BATCH, "at least {BATCH} names");
        let elastic = sharder(ELASTIC, nodes);
        let routing_shards = elastic.as_resizable().and_then(|index| index.routing_shards());
        let routing_shards = i32::try_from(routing_shards.expect("this generation has them")).expect("at most 1024");
        let shards = i32::try_from(nodes).expect("at most 1000");
        let stage = Self {
            nodes,
            wide_keys: wide.collect(),
            ids_parts: parts(&ids),
            ids,
            mixed_parts: parts(&mixed),
            mixed,
            elastic,
            routing: (routing_shards, routing_shards / shards),
            modulo: sharder("modulo", nodes),
            jump: sharder("jump", nodes),
            ring: sharder("ring", nodes),
            rendezvous: sharder("rendezvous", nodes),
            maglev: sharder("maglev", nodes),
            large_maglev: sharder("maglev:table=655373", nodes),
            ketama: ketama(nodes),
            hashring: hashring(nodes),
            tables: TABLES.map(|slots| maglev_table(nodes, slots)),
            anchor: anchor(nodes),
            multi_probe: multi_probe(nodes),
            node_list: (0..u64::from(nodes)).collect(),
            keys,
        };
        stage.check();
        stage
    }

    /// Nothing is timed that answers wrongly.
    fn check(&self) {
        let keys = &self.keys[..4096];
        let ours = [&self.modulo, &self.jump, &self.ring, &self.rendezvous, &self.maglev, &self.large_maglev];
        ours.iter().for_each(|sharder| crate::support::check(&***sharder, keys));
        let mut units = Vec::new();
        for id in self.ids.iter().chain(self.mixed.iter().take(KEYS)) {
            let published = mur3_shard(id, &mut units, self.routing);
            let key = EsMurmur3.hash(&RawKey::id(id.as_bytes())).expect("text");
            assert_eq!(u64::from(self.elastic.shard(key).0), published, "{id:?}");
        }
        for &key in &self.keys {
            assert_eq!(self.jump.shard(key).0, jumpch::hash(key, self.nodes), "jumpch and ours are one definition");
            let hash = xxhash_rust::xxh3::xxh3_64(&key.to_le_bytes());
            assert_eq!(
                xxh3_u64(hash),
                xxhash_rust::xxh3::xxh3_64(&hash.to_le_bytes()),
                "xxhash-rust and ours are one definition"
            );
        }
        // The others have definitions of their own: they must reach all nodes evenly, and move keys to a
        // new node alone. A ring of 160 points strays by 8 % a node, Maglev moves a few more, and so does a ring of
        // 32-bit positions when two points meet and one of them is dropped.
        let smaller = (
            ketama(self.nodes - 1),
            hashring(self.nodes - 1),
            maglev_table(self.nodes - 1, TABLES[1]),
            multi_probe(self.nodes - 1),
        );
        let ip = |address: Option<SocketAddr>| match address.map(|address| address.ip()) {
            Some(IpAddr::V4(ip)) => u32::from_be_bytes(ip.octets()) & 0xFF_FFFF,
            other => panic!("an address that was never given: {other:?}"),
        };
        let wide = |key: u64| &self.wide_keys[usize::try_from(key).expect("an index")];
        let key = |at: u64| self.keys[usize::try_from(at).expect("an index")];
        self.sane("pingora-ketama", 0.001, |at| ip(self.ketama.node(wide(at))), |at| ip(smaller.0.node(wide(at))));
        let ring = |ring: &hashring::HashRing<Point>, at| ring.get(&key(at)).expect("a ring with points").node;
        self.sane("hashring", 0.0, |at| ring(&self.hashring, at), |at| ring(&smaller.1, at));
        let maglev = |table: &maglev_hash::MaglevTable<u32>, at| *table.get(&key(at)).expect("a table with nodes");
        self.sane("maglev-hash", 0.02, |at| maglev(&self.tables[1], at), |at| maglev(&smaller.2, at));
        let probe = |ring: &mpchash::HashRing<u32>, at| *ring.node(&key(at)).expect("a ring with nodes").node();
        self.sane("mpchash", 0.0, |at| probe(&self.multi_probe, at), |at| probe(&smaller.3, at));
        let anchor_owner = |anchor: &Anchor, at| *anchor.get_resource(key(at)).expect("an anchor with nodes");
        let mut fewer = anchor(self.nodes);
        fewer.remove_resource(&(self.nodes - 1)).expect("the last node is there");
        self.sane("anchorhash", 0.0, |at| anchor_owner(&self.anchor, at), |at| anchor_owner(&fewer, at));
        let selected = |nodes: usize, at: u64| {
            let hasher = rendezvous_of::<DefaultHasher>();
            let index = hasher.select_index(&key(at), &self.node_list[..nodes]).expect("a list with nodes");
            u32::try_from(index).expect("below 1000")
        };
        // A thousand hashes for each answer: fewer keys than for the others.
        for at in 0..512 {
            let (more, fewer) = (selected(self.node_list.len(), at), selected(self.node_list.len() - 1, at));
            assert!(more == fewer || more == self.nodes - 1, "simplehash moved a key between old nodes");
        }
    }

    /// All contests of lookups.
    pub(crate) fn lookups(&self) -> Vec<Contest<'_>> {
        let mut contests = vec![self.elastic("elasticsearch, ids of 20 letters", &self.ids, &self.ids_parts)];
        contests.push(self.elastic("elasticsearch, ids of mixed lengths", &self.mixed, &self.mixed_parts));
        contests.push(self.modulo());
        contests.push(self.contest(
            "jump",
            "jump",
            &*self.jump,
            vec![self.by_key("jumpch 2.0.0", |key| u64::from(jumpch::hash(key, black_box(self.nodes))))],
            "the same function of the same 64-bit keys",
        ));
        let hashes = |at: &[u8; 16]| self.ketama.node_idx(at) as u64;
        let mut wide = self.wide_keys.iter().cycle();
        let ketama = move |count: usize| {
            let mut sum = 0_u64;
            for _ in 0..count {
                sum = sum.wrapping_add(hashes(wide.next().expect("a cycle")));
            }
            sum
        };
        contests.push(self.contest(
            "ring",
            "ring",
            &*self.ring,
            vec![
                Subject::new("pingora-ketama 0.9.1", ketama),
                self.by_key("hashring 0.3.6", |key| {
                    u64::from(self.hashring.get(&key).expect("a ring with points").node)
                }),
            ],
            "160 points a node each; pingora-ketama hashes 16 bytes by CRC-32 to 32-bit positions, hashring 8 bytes by \
             SipHash to 64 bits, ours takes the 64-bit key as it is",
        ));
        contests.push(self.rendezvous());
        for (question, spec, sharder, table) in [
            ("maglev 65537", "maglev", &self.maglev, &self.tables[0]),
            ("maglev 655373", "maglev:table=655373", &self.large_maglev, &self.tables[1]),
        ] {
            let published = self.by_key("maglev-hash 0.1.0", move |key| u64::from(*table.get(&key).expect("nodes")));
            contests.push(self.contest(
                question,
                spec,
                &**sharder,
                vec![published],
                "tables of one size; maglev-hash hashes the key by SipHash first, 8 to 10 ns of its time, and reads 8 \
                 bytes a slot",
            ));
        }
        contests
    }

    /// Published crates of schemes that we do not have: for context, without a ratio.
    pub(crate) fn context(&self) -> Vec<Subject<'_>> {
        vec![
            self.by_key("anchorhash 0.2.2", |key| {
                u64::from(*self.anchor.get_resource(key).expect("an anchor with nodes"))
            }),
            self.by_key("mpchash 2.0.10", |key| {
                u64::from(*self.multi_probe.node(&key).expect("a ring with nodes").node())
            }),
        ]
    }

    /// All contests of builds of a thousand nodes: the operation is one build.
    pub(crate) fn builds() -> Vec<Contest<'static>> {
        let ours = |spec: &'static str| {
            let (scheme, members) = (scheme(spec), dense(BUILD_NODES));
            let work = move |count: usize| {
                let built =
                    |_| black_box(scheme.build(&members).expect("a spec that can be built")).heap_bytes() as u64;
                (0..count).map(built).sum()
            };
            Subject::new(spec, work)
        };
        let build = |question, spec, published, comparability| Contest {
            question,
            nodes: BUILD_NODES,
            spec,
            published,
            single: ours(spec),
            many: None,
            comparability,
        };
        let repeat = |name, make: fn() -> u64| {
            Subject::new(name, move |count| (0..count).fold(0_u64, |sum, _| sum.wrapping_add(make())))
        };
        vec![
            build(
                "build ring",
                "ring",
                vec![
                    repeat("pingora-ketama 0.9.1", || black_box(ketama(BUILD_NODES)).node_idx(b"x") as u64),
                    repeat("hashring 0.3.6", || black_box(hashring(BUILD_NODES)).len() as u64),
                ],
                "160,000 points each; pingora-ketama hashes each by CRC-32 of the one before and sorts 8 bytes a point, \
                 hashring hashes each by SipHash and sorts 16",
            ),
            build(
                "build maglev 65537",
                "maglev",
                vec![repeat("maglev-hash 0.1.0", || black_box(maglev_table(BUILD_NODES, TABLES[0])).capacity() as u64)],
                "tables of one size; maglev-hash also looks for the prime",
            ),
            build(
                "build maglev 655373",
                "maglev:table=655373",
                vec![repeat("maglev-hash 0.1.0", || black_box(maglev_table(BUILD_NODES, TABLES[1])).capacity() as u64)],
                "tables of one size; maglev-hash also looks for the prime",
            ),
        ]
    }

    /// Nearly every node has keys, none more than three times its part, and a node fewer moves no key
    /// between the others, but for the fraction `disruption` of all.
    fn sane(&self, name: &str, disruption: f64, with: impl Fn(u64) -> u32, without: impl Fn(u64) -> u32) {
        let mut counts = vec![0_u32; self.nodes as usize];
        let mut between = 0_u32;
        for at in 0..KEYS as u64 {
            let (more, fewer) = (with(at), without(at));
            counts[more as usize] += 1;
            between += u32::from(more != fewer && more != self.nodes - 1);
        }
        let fair = KEYS as f64 / f64::from(self.nodes);
        let most = counts.iter().copied().max().unwrap_or(0);
        let idle = counts.iter().filter(|count| **count == 0).count();
        assert!(idle * 50 <= counts.len(), "{name}: {idle} of {} nodes have no key", counts.len());
        assert!(f64::from(most) < 3.0 * fair, "{name}: {most} keys on one node");
        assert!(f64::from(between) <= disruption * KEYS as f64, "{name}: {between} keys moved between old nodes");
    }

    fn contest<'a>(
        &'a self,
        question: &'static str,
        spec: &'static str,
        sharder: &'a dyn Sharder,
        published: Vec<Subject<'a>>,
        comparability: &'static str,
    ) -> Contest<'a> {
        let (mut singly, mut batched) = (Cycle::new(&self.keys), Cycle::new(&self.keys));
        Contest {
            question,
            nodes: self.nodes,
            spec,
            published,
            single: Subject::new(spec, move |count| singles(sharder, &mut singly, count)),
            many: Some(Subject::new(spec, move |count| batches(sharder, &mut batched, count))),
            comparability,
        }
    }

    /// A published crate that takes the 64-bit keys.
    fn by_key<'a>(&'a self, name: &'static str, mut lookup: impl FnMut(u64) -> u64 + 'a) -> Subject<'a> {
        let mut keys = Cycle::new(&self.keys);
        let work = move |count: usize| {
            let mut sum = 0_u64;
            keys.runs(count, usize::MAX, |run| {
                for &key in run {
                    sum = sum.wrapping_add(lookup(key));
                }
            });
            sum
        };
        Subject::new(name, work)
    }

    fn elastic<'a>(&'a self, question: &'static str, ids: &'a [String], parts: &'a [RawChunk]) -> Contest<'a> {
        let (mut published, mut singly, mut batched) = (ids.iter().cycle(), ids.iter().cycle(), parts.iter().cycle());
        let (mut units, mut keys, mut out) = (Vec::new(), Vec::new(), Vec::new());
        let hasher: Box<dyn KeyHasher> = scheme(ELASTIC).native_hasher().expect("Elasticsearch has its own");
        let batch_hasher = hasher.box_clone();
        let sharder = &*self.elastic;
        let routing = self.routing;
        let published = move |count: usize| {
            let routing = black_box(routing);
            (0..count).map(|_| mur3_shard(published.next().expect("a cycle"), &mut units, routing)).sum()
        };
        let single = move |count: usize| {
            let place = |_| {
                let id = singly.next().expect("a cycle");
                u64::from(sharder.shard(hasher.hash(&RawKey::id(id.as_bytes())).expect("text")).0)
            };
            (0..count).map(place).sum()
        };
        let many = move |count: usize| {
            let mut sum = 0_u64;
            for _ in 0..count {
                let batch = batched.next().expect("a cycle").as_batch();
                let first = documents(&*batch_hasher, sharder, &batch, &mut keys, &mut out).expect("text");
                sum = sum.wrapping_add(first);
            }
            sum
        };
        Contest {
            question,
            nodes: self.nodes,
            spec: ELASTIC,
            published: vec![Subject::new("mur3 0.1.0 + encode_utf16", published)],
            single: Subject::new(ELASTIC, single),
            many: Some(Subject { unit: BATCH, ..Subject::new(ELASTIC, many) }),
            comparability: "the same function from the same ids to the same shards; ours also checks that the bytes are \
                            UTF-8, which a &str has behind it",
        }
    }

    fn modulo(&self) -> Contest<'_> {
        let sharder = &*self.modulo;
        let mut contest = self.contest(
            "modulo",
            "modulo",
            sharder,
            vec![self.by_key("xxhash-rust 0.8 and %", |key| {
                xxhash_rust::xxh3::xxh3_64(&key.to_le_bytes()) % u64::from(black_box(self.nodes))
            })],
            "the same function, XXH3 of eight bytes and its remainder, on both sides",
        );
        let (mut singly, mut batched) = (Cycle::new(&self.keys), Cycle::new(&self.keys));
        contest.single.work = Box::new(move |count| {
            let mut sum = 0_u64;
            singly.runs(count, usize::MAX, |run| {
                for &key in run {
                    sum = sum.wrapping_add(u64::from(sharder.shard(xxh3_u64(key)).0));
                }
            });
            sum
        });
        let many = move |count: usize| {
            let (mut hashes, mut out) = ([0; BATCH], [NodeId(0); BATCH]);
            let mut sum = 0_u64;
            batched.runs(count, BATCH, |run| {
                xxh3_u64_many(Simd::best(), run, &mut hashes[..run.len()]);
                sharder.shard_many(&hashes[..run.len()], &mut out[..run.len()]);
                sum = sum.wrapping_add(u64::from(black_box(&mut out)[0].0));
            });
            sum
        };
        contest.many = Some(Subject::new("modulo", many));
        contest
    }

    fn rendezvous(&self) -> Contest<'_> {
        let nodes = &self.node_list;
        macro_rules! by {
            ($name:literal, $hasher:ty) => {{
                let hasher = rendezvous_of::<$hasher>();
                self.by_key($name, move |key| hasher.select_index(&key, nodes).expect("nodes") as u64)
            }};
        }
        self.contest(
            "rendezvous",
            "rendezvous",
            &*self.rendezvous,
            vec![
                by!("simplehash 0.1.3 with SipHash", DefaultHasher),
                by!("simplehash 0.1.3 with its FNV-1a", simplehash::fnv::Fnv1aHasher64),
                by!("simplehash 0.1.3 with its CityHash", simplehash::city::CityHasher64),
            ],
            "simplehash hashes key and node together for each node, ours has mixed both before; the function differs",
        )
    }
}

/// Builds are compared at this size alone.
const BUILD_NODES: u32 = 1000;

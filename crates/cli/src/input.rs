//! Where the keys come from: the flags that every command with keys shares.

use std::path::PathBuf;

use anyhow::bail;
use shardlab_core::{KeyHasher, KeyRules};
use shardlab_keys::{Documents, Encoding, Format, ReadOptions, SyntheticSpec};

/// How keys are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum EncodingArg {
    /// The text itself.
    #[default]
    Utf8,
    /// Hexadecimal digits, two a byte.
    Hex,
    /// Base64 with padding.
    Base64,
}

impl EncodingArg {
    pub(crate) const fn encoding(self) -> Encoding {
        match self {
            Self::Utf8 => Encoding::Utf8,
            Self::Hex => Encoding::Hex,
            Self::Base64 => Encoding::Base64,
        }
    }
}

/// The form of a key file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum FormatArg {
    /// One key a line.
    Lines,
    /// Comma-separated values with a header.
    Csv,
    /// One JSON object a line.
    Ndjson,
}

/// Reads a seed.
fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("a seed is a whole number from 0 to {}", u64::MAX))
}

/// Flags about the keys.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Keys")]
pub(crate) struct KeyArgs {
    /// File with keys: lines, CSV or NDJSON; plain, gzip or zstd; "-" is stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) keys: Option<PathBuf>,
    /// Seeded synthetic keys, by their spec.
    // The brackets of the options would be links in a doc comment.
    #[arg(
        long,
        value_name = "SPEC",
        conflicts_with = "keys",
        help = "Seeded synthetic keys: sequential:N[,start=0], padded:N[,width=12], uuid4:N, uuid7:N, \
                snowflake:N[,step_ms=37], unix-ms:N[,step=1000], zipf-tenants:N[,tenants=1000][,s=1.1], random:N"
    )]
    pub(crate) synthetic: Option<String>,
    /// Seed of synthetic keys
    #[arg(long, default_value_t = 42, allow_negative_numbers = true, value_parser = seed)]
    pub(crate) seed: u64,
    /// Form of the key file; by its name where this is left out, lines for stdin
    #[arg(long, value_enum)]
    pub(crate) keys_format: Option<FormatArg>,
    /// Column or field with the id (a dotted path walks into objects) [default: _id]
    #[arg(long, value_name = "NAME")]
    pub(crate) id_field: Option<String>,
    /// Column or field with the routing value [default: _routing, or routing]
    #[arg(long, value_name = "NAME")]
    pub(crate) routing_field: Option<String>,
    /// Column or field with a weight, such as the size in bytes
    #[arg(long, value_name = "NAME")]
    pub(crate) weight_field: Option<String>,
    /// The field of the requests, for commands that have a flag for it.
    #[arg(skip)]
    pub(crate) requests_field: Option<String>,
    /// How ids and routing values are written
    #[arg(long, value_enum, default_value_t)]
    pub(crate) encoding: EncodingArg,
    /// Leave out bad records and count them, in place of refusing the file
    #[arg(long)]
    pub(crate) skip_bad: bool,
    /// Hash from raw keys to keys: xxh3, es-murmur3, murmur3, fnv1a, djb2, java, identity
    /// [default: each scheme's own, else xxh3]
    #[arg(long, value_name = "NAME")]
    pub(crate) hash: Option<String>,
}

impl KeyArgs {
    /// The documents that the flags ask for; `None` where they name no source.
    pub(crate) fn documents(&self, rules: KeyRules) -> anyhow::Result<Option<Box<dyn Documents>>> {
        let options = self.read_options(rules);
        if let Some(path) = &self.keys {
            return Ok(Some(shardlab_keys::open(path, &options)?));
        }
        if let Some(spec) = &self.synthetic {
            self.refuse_file_flags("--synthetic")?;
            let documents = shardlab_keys::synthetic(&SyntheticSpec::parse(spec)?, self.seed, rules);
            if documents.are_hashed() && self.hash.is_some() {
                bail!(
                    "--hash does nothing for --synthetic {spec}, whose keys are numbers already; leave it out, or take another key set"
                );
            }
            return Ok(Some(documents));
        }
        Ok(None)
    }

    /// As [`documents`](Self::documents), with the embedded sample where no source is named.
    pub(crate) fn documents_or_sample(&self, rules: KeyRules) -> anyhow::Result<Box<dyn Documents>> {
        if let Some(documents) = self.documents(rules)? {
            return Ok(documents);
        }
        self.refuse_file_flags("the embedded sample")?;
        Ok(shardlab_keys::sample(&self.read_options(rules)))
    }

    /// The hash that was asked for.
    pub(crate) fn hasher(&self) -> anyhow::Result<Option<Box<dyn KeyHasher>>> {
        Ok(self.hash.as_deref().map(shardlab_hash::by_name).transpose()?)
    }

    /// Whether each line of a file is taken as a key, because its form or its name says so or nothing does.
    pub(crate) fn are_whole_lines(&self) -> bool {
        self.keys.as_ref().is_some_and(|path| match self.keys_format {
            Some(format) => format == FormatArg::Lines,
            None => path.as_os_str() == "-" || Format::of_name(path) == Format::Lines,
        })
    }

    pub(crate) fn read_options(&self, rules: KeyRules) -> ReadOptions {
        ReadOptions {
            format: self.keys_format.map(|format| match format {
                FormatArg::Lines => Format::Lines,
                FormatArg::Csv => Format::Csv,
                FormatArg::Ndjson => Format::Ndjson,
            }),
            id_field: self.id_field.clone(),
            routing_field: self.routing_field.clone(),
            weight_field: self.weight_field.clone(),
            requests_field: self.requests_field.clone(),
            skip_bad: self.skip_bad,
            rules,
            encoding: self.encoding.encoding(),
        }
    }

    /// Flags about a file say nothing about other keys, and nothing is ignored silently.
    pub(crate) fn refuse_file_flags(&self, source: &str) -> anyhow::Result<()> {
        let flags = [
            ("--keys-format", self.keys_format.is_some()),
            ("--id-field", self.id_field.is_some()),
            ("--routing-field", self.routing_field.is_some()),
            ("--weight-field", self.weight_field.is_some()),
            ("--requests-field", self.requests_field.is_some()),
            ("--encoding", self.encoding != EncodingArg::Utf8),
            ("--skip-bad", self.skip_bad),
        ];
        match flags.iter().find(|(_, given)| *given) {
            Some((flag, _)) => {
                bail!("{flag} describes a key file and does nothing for {source}; give --keys FILE, or leave it out")
            }
            None => Ok(()),
        }
    }
}

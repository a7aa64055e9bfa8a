use shardlab_core::{MAX_NODES, Scheme, SpecError};

/// A parsed spec.
#[derive(Debug)]
pub struct Parsed {
    /// The configured scheme.
    pub scheme: Box<dyn Scheme>,
    /// The membership, if the spec has one.
    pub membership: Option<Membership>,
}

/// A membership as a spec gives it. Files are read by the command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Membership {
    /// Nodes named "0" to "n−1".
    Count(u32),
    /// A CSV file with `name,weight`.
    File(String),
}

/// Why a text is not a spec.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("scheme {spec:?}: {problem}")]
pub struct ParseError {
    /// The text as written.
    pub spec: String,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with a spec.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// There is no scheme of that name.
    #[error("there is no scheme {name:?}; the schemes are {known}")]
    UnknownScheme {
        /// What was written before the colon.
        name: String,
        /// The names there are.
        known: String,
    },
    /// An option is not of the form `name=value`.
    #[error("{part:?} is not of the form option=value")]
    NotAPair {
        /// The part between two commas.
        part: String,
    },
    /// An option stands there twice.
    #[error("option {option:?} is given twice")]
    Doubled {
        /// The option.
        option: String,
    },
    /// The membership stands there twice under different names.
    #[error("{first} and {second} both give the membership; keep one")]
    TwoMemberships {
        /// The first option.
        first: String,
        /// The second.
        second: String,
    },
    /// The scheme refuses an option or a combination.
    #[error(transparent)]
    Option(#[from] SpecError),
}

/// Parses `name` or `name:option=value,…`.
///
/// # Errors
/// See [`Problem`].
pub fn parse(spec: &str) -> Result<Parsed, ParseError> {
    parse_parts(spec).map_err(|problem| ParseError { spec: spec.to_owned(), problem })
}

fn parse_parts(spec: &str) -> Result<Parsed, Problem> {
    let (name, options) = spec.split_once(':').unwrap_or((spec, ""));
    let all = crate::all();
    let known = || all.iter().map(|scheme| scheme.name()).collect::<Vec<_>>().join(", ");
    let found = all.iter().find(|scheme| scheme.name() == name);
    let mut scheme = found.ok_or_else(|| Problem::UnknownScheme { name: name.to_owned(), known: known() })?.box_clone();
    let mut seen: Vec<&str> = Vec::new();
    let mut membership: Option<(&str, Membership)> = None;
    // A colon promises options, so `jump:` is a slip of the pen and its empty part is refused.
    for part in options.split(',').filter(|_| spec.contains(':')) {
        let Some((option, value)) = part.split_once('=') else {
            return Err(Problem::NotAPair { part: part.to_owned() });
        };
        if seen.contains(&option) {
            return Err(Problem::Doubled { option: option.to_owned() });
        }
        seen.push(option);
        let given = if option == "nodes" || option == scheme.members_word() {
            Membership::Count(SpecError::whole_number(option, value, 1, MAX_NODES)?)
        } else if option == "nodes-file" {
            if value.is_empty() {
                return Err(SpecError::bad_value(option, value, "the path of a CSV file with name,weight").into());
            }
            Membership::File(value.to_owned())
        } else {
            scheme = scheme.with(option, value).map_err(|error| with_membership(error, &*scheme))?;
            continue;
        };
        if let Some((first, _)) = membership {
            return Err(Problem::TwoMemberships { first: first.to_owned(), second: option.to_owned() });
        }
        membership = Some((option, given));
    }
    scheme.check()?;
    Ok(Parsed { scheme, membership: membership.map(|(_, given)| given) })
}

/// Adds the words for the membership to the options that an error lists.
fn with_membership(error: SpecError, scheme: &dyn Scheme) -> SpecError {
    match error {
        SpecError::UnknownOption { scheme: name, option, known } => {
            let word = scheme.members_word();
            SpecError::UnknownOption { scheme: name, option, known: format!("{known}; and {word} or nodes-file") }
        }
        other => other,
    }
}

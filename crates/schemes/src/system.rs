use crate::{ParseError, Parsed, Problem, parse};

/// Systems that people name, each with the spec that places as it does.
const SYSTEMS: [(&str, &str); 2] = [("OpenSearch", "elastic:created=opensearch"), ("Guava", "jump:rounding=guava")];

/// The scheme that places documents as a system does: `Elasticsearch` with the version that an index was
/// created on, `OpenSearch`, `Guava` (its `consistentHash`), or any spec.
///
/// # Errors
/// The name is none of these and no spec either.
pub fn system(name: &str) -> Result<Parsed, ParseError> {
    let plain = name.trim();
    if let Some((_, spec)) = SYSTEMS.iter().find(|(known, _)| known.eq_ignore_ascii_case(plain)) {
        return parse(spec);
    }
    if let Some((product, version)) = plain.split_once(' ')
        && product.eq_ignore_ascii_case("Elasticsearch")
    {
        return parse(&format!("elastic:created={}", version.trim()));
    }
    parse(plain).map_err(|error| match error.problem {
        Problem::UnknownScheme { name, known } => {
            let systems = SYSTEMS.map(|(name, _)| name).join(", ");
            let known = format!("{known}; the systems are Elasticsearch with a version such as 8.15, {systems}");
            ParseError { problem: Problem::UnknownScheme { name, known }, ..error }
        }
        problem => ParseError { problem, ..error },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_are_known_by_their_names() {
        for (name, spec) in [
            ("Elasticsearch 8.15", "elastic:created=8.15"),
            ("elasticsearch 9.4", "elastic:created=9.4"),
            ("OpenSearch", "elastic:created=opensearch"),
            ("guava", "jump:rounding=guava"),
            ("ring:vnodes=200", "ring:vnodes=200"),
        ] {
            assert_eq!(system(name).unwrap().scheme.spec(), spec, "{name}");
        }
        let error = system("Redis").unwrap_err().to_string();
        assert!(error.contains("Elasticsearch with a version"), "{error}");
        assert!(system("Elasticsearch nine").is_err());
    }
}

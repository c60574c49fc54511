//! Which name was probably meant.

/// The candidate that differs from `written` in the fewest letters, if that is close enough to be a slip.
///
/// A key written without its table, or in another one, is close to the key with the same last part.
pub(crate) fn nearest<'a>(written: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let scored = candidates.map(|candidate| (score(written, candidate), candidate));
    let (distance, candidate) = scored.min()?;
    (distance <= written.len().max(3) / 3).then_some(candidate)
}

fn score(written: &str, candidate: &str) -> usize {
    if written.len() > 3 && candidate.starts_with(written) {
        return 1;
    }
    let whole = distance(written, candidate);
    let last_part = 1 + distance(last(written), last(candidate));
    whole.min(last_part)
}

fn last(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

/// Levenshtein's distance, one row at a time.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (line, l) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, r) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(l != *r);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[track_caller]
    fn check(written: &str, expect: Option<&str>) {
        let keys = ["listen", "sandbox.backend", "sandbox.idle_timeout_seconds", "storage.database_url"];
        assert_eq!(nearest(written, keys.into_iter()), expect, "{written}");
    }

    #[test]
    fn a_slip_finds_what_was_meant_and_nonsense_finds_nothing() {
        check("lisen", Some("listen"));
        check("sandbox.idle_timeout_second", Some("sandbox.idle_timeout_seconds"));
        check("sandbox.idle_timeout", Some("sandbox.idle_timeout_seconds"));
        check("sandboxes.backend", Some("sandbox.backend"));
        check("idle_timeout_seconds", Some("sandbox.idle_timeout_seconds"));
        check("databse_url", Some("storage.database_url"));
        check("colour", None);
        check("x", None);
    }
}

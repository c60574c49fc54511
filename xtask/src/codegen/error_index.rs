//! `docs/errors/README.md`: every error code, its status and its page.

use std::{fmt::Write, path::Path};

use anyhow::Result;

use crate::error_codes::{self, ErrorCode};

const HEAD: &str = "\
<!-- Written by `cargo xtask codegen`; edit the table in `crates/domain/src/error.rs` instead. -->

# Error codes

Errors are [RFC 9457](https://www.rfc-editor.org/rfc/rfc9457) problem documents. `code` is one of these, and its meaning
never changes. The `run_failed` event of a failed run has a code too.

| code | status | meaning |
|---|---|---|
";

pub(super) fn generate(root: &Path) -> Result<String> {
    Ok(index(&error_codes::read(root)?))
}

fn index(codes: &[ErrorCode]) -> String {
    let mut text = HEAD.to_owned();
    for ErrorCode { code, status, meaning } in codes {
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "| [{code}]({code}.md) | {status} | {meaning} |");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_is_a_row_that_leads_to_its_page() {
        let code = ErrorCode { code: "CONFLICT".into(), status: 409, meaning: "Not now.".into() };
        assert_eq!(index(&[code]), format!("{HEAD}| [CONFLICT](CONFLICT.md) | 409 | Not now. |\n"));
    }
}

//! Generates `docs/config.md` from the table that also rejects unknown keys.

use std::{fmt::Write as _, path::Path};

use crate::{Config, Environment, KEYS, RawConfig, show};

const OPENING: &str = "\
# Configuration

<!-- Generated from `crates/config` by `cargo xtask codegen`. Do not edit. -->

Warren needs no configuration. To change a default, set its key in `warren.toml` in the data directory (or in the file that
`--config` or `WARREN_CONFIG` names), or set the environment variable listed with the key. The variable takes precedence.
Unknown keys are errors, with a hint that names the closest key.
`warren config show` prints every value and where it comes from; `warren config check` only checks.

The data directory is `--dir`, else `WARREN_HOME`, else `.warren` in the current directory if it exists, else `~/.warren`.
It must belong to the user that runs the server and have mode 0700; a server does not start in one that other users can access.
Relative paths are relative to it. Sizes are written as `\"2GiB\"`, `\"512MiB\"` or a number of bytes; lists in variables are separated by commas.

Other variables: `ANTHROPIC_API_KEY` and `ANTHROPIC_BASE_URL` (see `models.anthropic`), `GEMINI_API_KEY`, `GOOGLE_API_KEY` and
`GOOGLE_GEMINI_BASE_URL` (see `models.gemini`), `OPENAI_API_KEY` and `OPENAI_BASE_URL` (see `models.openai`),
`NPM_CONFIG_REGISTRY` (see `agents.registry`), `WARREN_LOG` (what is logged, like `--log`),
`WARREN_SERVER` and `WARREN_TOKEN` (a server to use instead of the data directory's own), `NO_COLOR`.

";

/// The page about every key.
#[must_use]
pub fn docs() -> String {
    let mut page = OPENING.to_owned();
    let defaults = defaults();
    for key in KEYS {
        let default = defaults.iter().find(|(name, _)| *name == key.name).map_or("", |(_, value)| value);
        // Writing to a `String` cannot fail.
        let _ = section(&mut page, key, default);
    }
    page.truncate(page.trim_end().len());
    page.push('\n');
    page
}

fn section(page: &mut String, key: &crate::Key, default: &str) -> std::fmt::Result {
    writeln!(page, "## `{}`\n\n{}\n", key.name, key.doc)?;
    writeln!(page, "- Kind: {}", key.kind.describe())?;
    match default {
        "" => writeln!(page, "- Default: none")?,
        default => writeln!(page, "- Default: `{default}`")?,
    }
    if let Some(variable) = key.variable() {
        writeln!(page, "- Variable: `{variable}`")?;
    }
    writeln!(page, "- Since {}\n", key.since)
}

fn defaults() -> Vec<(&'static str, String)> {
    let nothing = Config::resolve(RawConfig::default(), Path::new("DATA_DIRECTORY"), &Environment::default());
    // Defaults are legal; a test says so.
    nothing.map(|config| show(&config)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::{defaults, docs};
    use crate::{Environment, KEYS};

    #[test]
    fn every_key_is_shown_and_everything_shown_is_a_key() {
        let shown: Vec<&str> = defaults().into_iter().map(|(name, _)| name).collect();
        let keys: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
        assert_eq!(shown, keys);
    }

    #[test]
    fn the_committed_page_is_what_would_be_generated() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/config.md");
        if Environment::of_process().get("UPDATE_FIXTURES").is_some() {
            fs::write(&path, docs()).expect("written");
        }
        let found = fs::read_to_string(path).unwrap_or_default();
        assert_eq!(found, docs(), "run `cargo xtask codegen` and commit");
    }
}

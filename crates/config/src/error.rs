//! Why there is no configuration.

use std::{io, path::PathBuf};

/// Why the options could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file is there but cannot be read, or was named and is not there.
    #[error("failed to read `{path}`")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The file is not TOML, or a value in it is of another kind than its key takes.
    #[error("`{path}` is not a valid configuration")]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Where and why.
        #[source]
        source: Box<toml::de::Error>,
    },
    /// The file has a key that does not exist.
    #[error("unknown key `{key}` in `{path}`")]
    UnknownKey {
        /// The file.
        path: PathBuf,
        /// The key as it was written.
        key: String,
        /// The key that was probably meant.
        nearest: Option<&'static str>,
    },
    /// A variable's text is of another kind than its key takes.
    #[error("the environment variable `{name}` is not a {expected}: `{value}`")]
    Variable {
        /// The variable.
        name: String,
        /// What was found.
        value: String,
        /// What its key takes.
        expected: &'static str,
    },
    /// A value is of the right kind but makes no sense.
    #[error("`{key}` cannot be {value}")]
    Value {
        /// The key.
        key: &'static str,
        /// What was found.
        value: String,
        /// What it can be.
        hint: &'static str,
    },
    /// A file that holds a secret cannot be read.
    #[error("failed to read the file `{path}` that `{key}` names")]
    SecretFile {
        /// The key that names it.
        key: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Nothing says where the data directory is.
    #[error("there is no data directory: `HOME` is not set")]
    NoHome,
}

impl ConfigError {
    /// What the operator can do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            ConfigError::UnknownKey { key, .. } if is_secret(key) => {
                let (variable, provider) = provider_of(key);
                Some(format!(
                    "keys do not belong in this file; set `{variable}` in the server's environment, or name a file with \
                     `models.{provider}.api_key_file`"
                ))
            }
            ConfigError::UnknownKey { nearest: Some(nearest), .. } => {
                Some(format!("did you mean `{nearest}`?"))
            }
            ConfigError::UnknownKey { nearest: None, .. } => {
                Some("`warren config show` lists all keys".to_owned())
            }
            ConfigError::Value { hint, .. } => Some((*hint).to_owned()),
            ConfigError::NoHome => Some("set one with `--dir` or `WARREN_HOME`".to_owned()),
            ConfigError::Read { .. }
            | ConfigError::Syntax { .. }
            | ConfigError::Variable { .. }
            | ConfigError::SecretFile { .. } => None,
        }
    }
}

/// Whose key it probably is: the variable that usually holds it, and its table.
fn provider_of(key: &str) -> (&'static str, &'static str) {
    match key.split('.').nth(1) {
        Some("gemini") => ("GEMINI_API_KEY", "gemini"),
        Some("openai") => ("OPENAI_API_KEY", "openai"),
        Some("openai_responses") => ("OPENAI_API_KEY", "openai_responses"),
        _ => ("ANTHROPIC_API_KEY", "anthropic"),
    }
}

fn is_secret(key: &str) -> bool {
    let last = key.rsplit('.').next().unwrap_or(key);
    matches!(last, "api_key" | "key" | "token" | "secret" | "password")
}

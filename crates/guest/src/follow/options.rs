//! The command line. See [`super`] for what each option means.

use std::{ffi::OsString, path::PathBuf};

/// What to run and what to follow.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) dir: PathBuf,
    pub(super) suffixes: Vec<String>,
    pub(super) clear: bool,
    pub(super) prompt_line: bool,
    pub(super) program: OsString,
    pub(super) arguments: Vec<OsString>,
}

/// Why the command line makes no sense.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum OptionsError {
    #[error("unknown option `{0}`")]
    Unknown(String),
    #[error("`{0}` needs a value")]
    NoValue(&'static str),
    #[error("`{0}` is required")]
    Missing(&'static str),
}

impl Options {
    /// Reads the arguments after `follow`.
    pub(super) fn parse(mut arguments: impl Iterator<Item = OsString>) -> Result<Self, OptionsError> {
        let (mut dir, mut suffixes, mut clear, mut prompt_line) = (None, Vec::new(), false, false);
        loop {
            let option = arguments.next().ok_or(OptionsError::Missing("-- PROGRAM"))?;
            match option.to_string_lossy().as_ref() {
                "--" => break,
                "--dir" => dir = Some(arguments.next().ok_or(OptionsError::NoValue("--dir"))?.into()),
                "--suffix" => {
                    let suffix = arguments.next().ok_or(OptionsError::NoValue("--suffix"))?;
                    suffixes.push(suffix.to_string_lossy().into_owned());
                }
                "--clear" => clear = true,
                "--prompt-line" => prompt_line = true,
                other => return Err(OptionsError::Unknown(other.to_owned())),
            }
        }
        let dir = dir.ok_or(OptionsError::Missing("--dir"))?;
        let program = arguments.next().ok_or(OptionsError::Missing("PROGRAM"))?;
        Ok(Self { dir, suffixes, clear, prompt_line, program, arguments: arguments.collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::{Options, OptionsError};

    fn parse(line: &str) -> Result<Options, OptionsError> {
        Options::parse(line.split_whitespace().map(Into::into))
    }

    #[test]
    fn what_follows_the_dashes_is_the_programs_own() {
        let options =
            parse("--dir /d --suffix .jsonl --clear --prompt-line -- prog --dir x").expect("parses");
        let expected = Options {
            dir: "/d".into(),
            suffixes: vec![".jsonl".to_owned()],
            clear: true,
            prompt_line: true,
            program: "prog".into(),
            arguments: vec!["--dir".into(), "x".into()],
        };
        assert_eq!(options, expected);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let cases = [
            ("", OptionsError::Missing("-- PROGRAM")),
            ("--dir", OptionsError::NoValue("--dir")),
            ("--hlep -- x", OptionsError::Unknown("--hlep".to_owned())),
            ("-- x", OptionsError::Missing("--dir")),
            ("--dir d --", OptionsError::Missing("PROGRAM")),
        ];
        for (line, error) in cases {
            assert_eq!(parse(line), Err(error), "{line}");
        }
    }
}

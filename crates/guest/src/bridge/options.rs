//! What the bridge is told when it is started.

use std::{ffi::OsString, path::PathBuf, time::Duration};

/// What the bridge is told when it is started.
#[derive(Debug, PartialEq, Eq, Default)]
pub(super) struct Options {
    /// What the program prints when it can be called.
    pub(super) ready: String,
    pub(super) ready_timeout: Duration,
    /// Where the server's events are.
    pub(super) events: String,
    /// The variable that tells the program its password.
    pub(super) password: Option<String>,
    /// The name that goes with it.
    pub(super) user: String,
    pub(super) command: Vec<OsString>,
    /// Files are saved beneath it, and nowhere else.
    pub(super) home: Option<PathBuf>,
}

/// Why the bridge does not start.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum OptionsError {
    #[error("`{0}` is not an option")]
    Unknown(String),
    #[error("`{0}` needs a value")]
    NoValue(String),
    #[error("`--ready-timeout-ms {0}` is not a number")]
    Timeout(String),
    #[error("`{0}` is required")]
    Missing(&'static str),
}

impl Options {
    /// From this process's arguments and environment.
    pub(super) fn from_process() -> Result<Self, OptionsError> {
        let options = Self::parse(std::env::args_os().skip(2))?;
        Ok(Self { home: home(), ..options })
    }

    fn parse(mut arguments: impl Iterator<Item = OsString>) -> Result<Self, OptionsError> {
        let mut options = Self { ready_timeout: Duration::from_secs(60), ..Self::default() };
        while let Some(option) = arguments.next() {
            let option = option.to_string_lossy().into_owned();
            if option == "--" {
                break;
            }
            let value = arguments.next().ok_or_else(|| OptionsError::NoValue(option.clone()))?;
            options.set(option, value.to_string_lossy().into_owned())?;
        }
        options.command = arguments.collect();
        let required = [
            ("--ready", options.ready.is_empty()),
            ("--events", options.events.is_empty()),
            ("PROGRAM", options.command.is_empty()),
        ];
        match required.iter().find(|(_, is_missing)| *is_missing) {
            Some((name, _)) => Err(OptionsError::Missing(name)),
            None => Ok(options),
        }
    }

    fn set(&mut self, option: String, value: String) -> Result<(), OptionsError> {
        match option.as_str() {
            "--ready" => self.ready = value,
            "--ready-timeout-ms" => {
                let ms = value.parse().map_err(|_| OptionsError::Timeout(value))?;
                self.ready_timeout = Duration::from_millis(ms);
            }
            "--events" => self.events = value,
            "--password" => self.password = Some(value),
            "--user" => self.user = value,
            _ => return Err(OptionsError::Unknown(option)),
        }
        Ok(())
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place where this program reads its environment")]
fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Options, OptionsError};

    fn parse(line: &str) -> Result<Options, OptionsError> {
        Options::parse(line.split_whitespace().map(Into::into))
    }

    #[test]
    fn every_option_is_taken_and_the_rest_is_the_program() {
        let options =
            parse("--ready up --ready-timeout-ms 5 --events /e --password P --user u -- a --ready b");
        let expected = Options {
            ready: "up".to_owned(),
            ready_timeout: Duration::from_millis(5),
            events: "/e".to_owned(),
            password: Some("P".to_owned()),
            user: "u".to_owned(),
            command: ["a", "--ready", "b"].map(Into::into).to_vec(),
            home: None,
        };
        assert_eq!(options, Ok(expected));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        assert_eq!(parse("--events /e -- a"), Err(OptionsError::Missing("--ready")));
        assert_eq!(parse("--ready up --events /e"), Err(OptionsError::Missing("PROGRAM")));
        assert_eq!(parse("--ready"), Err(OptionsError::NoValue("--ready".to_owned())));
        assert_eq!(parse("--loud yes -- a"), Err(OptionsError::Unknown("--loud".to_owned())));
        assert_eq!(parse("--ready-timeout-ms x -- a"), Err(OptionsError::Timeout("x".to_owned())));
    }
}

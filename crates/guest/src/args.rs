//! The guest's command line. See the crate's page for what each option means.

use std::{collections::BTreeMap, ffi::OsString, os::fd::RawFd, path::PathBuf};

use rustix::process::Resource;
use warren_guest_api::Root;

/// What the host wants of this guest.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Args {
    pub(crate) roots: BTreeMap<Root, PathBuf>,
    pub(crate) cgroup_fds: Vec<RawFd>,
    pub(crate) rlimits: Vec<Rlimit>,
    pub(crate) landlock: LandlockArgs,
}

/// A resource limit of every exec'd child; `None` is none at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rlimit {
    pub(crate) resource: Resource,
    pub(crate) value: Option<u64>,
}

/// Which trees Landlock leaves to exec'd children, besides the usual ones.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LandlockArgs {
    pub(crate) mode: LandlockMode,
    pub(crate) writable: Vec<PathBuf>,
    pub(crate) readable: Vec<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LandlockMode {
    BestEffort,
    Off,
}

/// Why the command line makes no sense.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ArgsError {
    #[error("`{0}` is not an option")]
    Unknown(String),
    #[error("`{0}` needs a value")]
    NoValue(String),
    #[error("`{value}` is not a value of `{option}`")]
    Value { option: String, value: String },
}

impl Default for Args {
    fn default() -> Self {
        Self {
            roots: Root::ALL.into_iter().map(|root| (root, root.path().into())).collect(),
            cgroup_fds: Vec::new(),
            rlimits: vec![Rlimit { resource: Resource::Core, value: Some(0) }],
            landlock: LandlockArgs { mode: LandlockMode::BestEffort, writable: vec![], readable: vec![] },
        }
    }
}

impl Args {
    /// Reads the arguments after the program's name.
    pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Self, ArgsError> {
        let mut parsed = Self::default();
        let mut args = args.into_iter().map(|arg| arg.to_string_lossy().into_owned());
        while let Some(option) = args.next() {
            if !OPTIONS.contains(&option.as_str()) {
                return Err(ArgsError::Unknown(option));
            }
            let value = args.next().ok_or_else(|| ArgsError::NoValue(option.clone()))?;
            parsed.set(&option, &value).ok_or(ArgsError::Value { option, value })?;
        }
        Ok(parsed)
    }

    /// `None` is a value that makes no sense.
    fn set(&mut self, option: &str, value: &str) -> Option<()> {
        match option {
            "--root" => {
                let (name, path) = value.split_once('=')?;
                let root = Root::ALL.into_iter().find(|root| root.name() == name)?;
                self.roots.insert(root, path.into());
            }
            "--cgroup-fds" => self.cgroup_fds = descriptors(value)?,
            "--rlimit" => {
                let limit = rlimit(value)?;
                self.rlimits.retain(|other| other.resource != limit.resource);
                self.rlimits.push(limit);
            }
            "--landlock" => {
                self.landlock.mode = match value {
                    "best-effort" => LandlockMode::BestEffort,
                    "off" => LandlockMode::Off,
                    _ => return None,
                }
            }
            "--landlock-rw" => self.landlock.writable.push(value.into()),
            "--landlock-ro" => self.landlock.readable.push(value.into()),
            _ => return None,
        }
        Some(())
    }
}

const OPTIONS: [&str; 6] =
    ["--root", "--cgroup-fds", "--rlimit", "--landlock", "--landlock-rw", "--landlock-ro"];

/// Descriptors 0 to 2 have their own meaning and cannot be named.
fn descriptors(value: &str) -> Option<Vec<RawFd>> {
    let parse = |number: &str| number.parse().ok().filter(|fd| *fd > 2);
    value.split(',').map(parse).collect()
}

fn rlimit(value: &str) -> Option<Rlimit> {
    let (name, value) = value.split_once('=')?;
    let resource = match name {
        "as" => Resource::As,
        "core" => Resource::Core,
        "fsize" => Resource::Fsize,
        "memlock" => Resource::Memlock,
        "nofile" => Resource::Nofile,
        "nproc" => Resource::Nproc,
        "stack" => Resource::Stack,
        _ => return None,
    };
    let value = if value == "unlimited" { None } else { Some(value.parse().ok()?) };
    Some(Rlimit { resource, value })
}

#[cfg(test)]
mod tests {
    use rustix::process::Resource;
    use warren_guest_api::Root;

    use super::{Args, ArgsError, LandlockMode, Rlimit};

    fn parse(line: &str) -> Result<Args, ArgsError> {
        Args::parse(line.split_whitespace().map(Into::into))
    }

    #[test]
    fn without_options_the_roots_are_where_the_sandbox_has_them() {
        let args = parse("").expect("parses");
        assert_eq!(args, Args::default());
        assert_eq!(args.roots[&Root::Home].to_str(), Some("/home/agent"));
    }

    #[test]
    fn every_option_is_taken() {
        let args = parse(
            "--root workspace=/w --cgroup-fds 10,11 --rlimit nofile=99 --rlimit core=unlimited \
             --landlock off --landlock-rw /a --landlock-ro /b --landlock-ro /c",
        )
        .expect("parses");
        let mut expected = Args::default();
        expected.roots.insert(Root::Workspace, "/w".into());
        expected.cgroup_fds = vec![10, 11];
        expected.rlimits = vec![
            Rlimit { resource: Resource::Nofile, value: Some(99) },
            Rlimit { resource: Resource::Core, value: None },
        ];
        expected.landlock.mode = LandlockMode::Off;
        expected.landlock.writable = vec!["/a".into()];
        expected.landlock.readable = vec!["/b".into(), "/c".into()];
        assert_eq!(args, expected);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let value =
            |option: &str, value: &str| ArgsError::Value { option: option.into(), value: value.into() };
        let cases = [
            ("--help", ArgsError::Unknown("--help".into())),
            ("--root", ArgsError::NoValue("--root".into())),
            ("--root nowhere=/x", value("--root", "nowhere=/x")),
            ("--cgroup-fds 2", value("--cgroup-fds", "2")),
            ("--rlimit nofile=many", value("--rlimit", "nofile=many")),
            ("--landlock strict", value("--landlock", "strict")),
        ];
        for (line, error) in cases {
            assert_eq!(parse(line), Err(error), "{line}");
        }
    }
}

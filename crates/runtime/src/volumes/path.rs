//! From a client's path to a volume and a place in it.

use warren_domain::ErrorCode;
use warren_guest_api::{FilePath, Root};

use crate::api::SessionError;

/// The longest path that is taken: the kernel's own limit.
const LONGEST: usize = 4096;

/// A tree that clients can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Volume {
    Workspace,
    UserInput,
    Knowledge,
    Instructions,
}

/// A place in a volume: names only, none of them empty, `.` or `..`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VolumePath {
    pub(crate) volume: Volume,
    /// With `/` between names; empty is the volume itself.
    pub(crate) path: String,
}

impl VolumePath {
    /// Understands a client's path. What leads out is refused here, whatever else would stop it later.
    pub(crate) fn parse(text: &str) -> Result<Self, SessionError> {
        if text.len() > LONGEST {
            return Err(refused(format!("paths are limited to {LONGEST} bytes"), None));
        }
        if text.contains('\0') {
            return Err(refused("a path cannot contain a zero byte".to_owned(), None));
        }
        let mut names: Vec<&str> = text.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
        if names.contains(&"..") {
            return Err(refused(format!("`{}` contains `..`", text.escape_debug()), None));
        }
        if names.iter().any(|name| name.len() > 255) {
            return Err(refused("file names are limited to 255 bytes".to_owned(), None));
        }
        let volume = if text.starts_with('/') { absolute(&mut names, text)? } else { Volume::Workspace };
        Ok(Self { volume, path: names.join("/") })
    }

    /// The same place as the guest knows it, if it does.
    pub(crate) fn in_guest(&self) -> Option<FilePath> {
        let root = match self.volume {
            Volume::Workspace => Root::Workspace,
            Volume::UserInput => Root::UserInput,
            Volume::Knowledge | Volume::Instructions => return None,
        };
        Some(FilePath::new(root, self.path.clone()))
    }

    /// Whether it is a volume itself, or the directory that `/outputs` leads to: always there, and always a directory.
    pub(crate) fn is_volume(&self) -> bool {
        self.path.is_empty() || (self.volume == Volume::Workspace && self.path == "outputs")
    }

    /// As clients see it.
    pub(crate) fn shown(&self) -> String {
        let volume = match self.volume {
            Volume::Workspace => return self.path.clone(),
            Volume::UserInput => "/user-input",
            Volume::Knowledge => "/knowledge",
            Volume::Instructions => "/instructions",
        };
        if self.path.is_empty() { volume.to_owned() } else { format!("{volume}/{}", self.path) }
    }

    /// What lies beneath it.
    pub(crate) fn join(&self, relative: &str) -> Self {
        let path =
            if self.path.is_empty() { relative.to_owned() } else { format!("{}/{relative}", self.path) };
        Self { volume: self.volume, path }
    }
}

fn absolute(names: &mut Vec<&str>, text: &str) -> Result<Volume, SessionError> {
    let volume = match names.first().copied() {
        // The root of everything shows the workspace: a file explorer begins there.
        None => return Ok(Volume::Workspace),
        Some("workspace") => Volume::Workspace,
        Some("user-input") => Volume::UserInput,
        Some("knowledge") => Volume::Knowledge,
        Some("instructions") => Volume::Instructions,
        // A link to a directory of the workspace.
        Some("outputs") => return Ok(Volume::Workspace),
        Some(_) => {
            let message = format!("`{}` is in none of the session's volumes", text.escape_debug());
            let hint = "use a path relative to the workspace, or one in `/workspace`, `/outputs`, `/user-input`, \
                        `/knowledge` or `/instructions`";
            return Err(refused(message, Some(hint)));
        }
    };
    names.remove(0);
    Ok(volume)
}

fn refused(message: String, hint: Option<&str>) -> SessionError {
    SessionError::Invalid { code: ErrorCode::BadRequest, message, hint: hint.map(str::to_owned) }
}

#[cfg(test)]
mod tests {
    use super::{Volume, VolumePath};

    #[test]
    fn a_path_is_understood_one_way_only() {
        for (text, volume, path, shown) in [
            ("", Volume::Workspace, "", ""),
            (".", Volume::Workspace, "", ""),
            ("/", Volume::Workspace, "", ""),
            ("a/./b//c/", Volume::Workspace, "a/b/c", "a/b/c"),
            ("/workspace/a", Volume::Workspace, "a", "a"),
            ("/outputs/web", Volume::Workspace, "outputs/web", "outputs/web"),
            ("outputs", Volume::Workspace, "outputs", "outputs"),
            ("/user-input", Volume::UserInput, "", "/user-input"),
            ("/user-input/x.csv", Volume::UserInput, "x.csv", "/user-input/x.csv"),
            ("user-input/x.csv", Volume::Workspace, "user-input/x.csv", "user-input/x.csv"),
            ("/knowledge/INDEX.md", Volume::Knowledge, "INDEX.md", "/knowledge/INDEX.md"),
            ("...", Volume::Workspace, "...", "..."),
        ] {
            let parsed = VolumePath::parse(text).expect(text);
            assert_eq!((parsed.volume, parsed.path.as_str()), (volume, path), "{text}");
            assert_eq!(parsed.shown(), shown, "{text}");
        }
    }

    #[test]
    fn what_leads_out_is_refused() {
        let (long, deep) = ("x".repeat(5000), "y".repeat(256));
        for text in
            ["..", "a/../b", "/workspace/../etc/passwd", "/etc/passwd", "/home/agent", "a\0b", &long, &deep]
        {
            VolumePath::parse(text).expect_err(text);
        }
    }
}

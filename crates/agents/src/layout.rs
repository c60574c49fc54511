//! Files a profile becomes.

use warren_domain::{AgentProfile, PermissionMode, WorkspaceTemplateFile};

use crate::ModelEndpoint;

/// What is known when files are laid out, before the first agent of a sandbox starts.
#[derive(Debug, Clone, Copy)]
pub struct LayoutRequest<'a> {
    /// What the agent is given.
    pub profile: &'a AgentProfile,
    /// The model APIs that will listen inside the sandbox.
    pub endpoints: &'a [ModelEndpoint],
    /// The model the session asks for.
    pub model: Option<&'a str>,
    /// Whether the agent must ask before it acts.
    pub permission_mode: PermissionMode,
}

/// One file to write before the agent starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayoutFile {
    /// Which tree it belongs to.
    pub place: Place,
    /// Relative path beneath that tree: no `..`, no leading slash.
    pub path: String,
    /// Its content.
    pub content: Vec<u8>,
    /// Its mode bits.
    pub mode: u32,
}

/// Which tree a file belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// The agent's home.
    Home,
    /// The workspace. Written once, when the workspace is new: later it belongs to whoever works in it.
    Workspace,
    /// The instructions, which the agent can only read.
    Instructions,
}

impl LayoutFile {
    /// A file anyone may read. What of `path` would leave its place is left out; `None` if nothing remains.
    pub(crate) fn new(place: Place, path: &str, content: impl Into<Vec<u8>>) -> Option<Self> {
        let path = beneath(path);
        (!path.is_empty()).then(|| Self { place, path, content: content.into(), mode: 0o644 })
    }
}

/// The files a new workspace starts with, whichever agent works in it.
pub(crate) fn workspace_files(profile: &AgentProfile) -> impl Iterator<Item = LayoutFile> + '_ {
    within(Place::Workspace, "", &profile.default_workspace_files)
}

/// Template files beneath the directory `under`.
pub(crate) fn within<'a>(
    place: Place,
    under: &'a str,
    files: &'a [WorkspaceTemplateFile],
) -> impl Iterator<Item = LayoutFile> + 'a {
    files.iter().filter_map(move |file| {
        let path = beneath(&file.path);
        let path = if path.is_empty() { path } else { format!("{under}/{path}") };
        LayoutFile::new(place, &path, file.content.as_str())
    })
}

/// A name as one component of a path.
pub(crate) fn component(name: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let name: String = name.chars().map(safe).collect();
    if name.chars().all(|c| c == '.') { "-".repeat(name.len().max(1)) } else { name }
}

fn beneath(path: &str) -> String {
    let parts = path.split('/').filter(|part| !matches!(*part, "" | "." | "..") && !part.contains('\0'));
    parts.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use warren_domain::WorkspaceTemplateFile;

    use super::{LayoutFile, Place, component, within};

    #[test]
    fn a_path_that_would_leave_its_place_stays_beneath_it() {
        let files = ["../../etc/passwd", "/a//./b", "..", ""]
            .map(|path| WorkspaceTemplateFile { path: path.to_owned(), content: String::new() });
        let paths: Vec<String> =
            within(Place::Workspace, "", &files).map(|LayoutFile { path, .. }| path).collect();
        assert_eq!(paths, ["etc/passwd", "a/b"]);
    }

    #[test]
    fn a_name_becomes_one_component() {
        assert_eq!(["a/b", "..", "", "Über x"].map(component), ["a-b", "--", "-", "-ber-x"]);
    }
}

//! Where sessions and workspaces live on the host.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use warren_agents::LayoutFile;
use warren_domain::{SessionId, WorkspaceId};

/// The directories of one session. What a sandbox can write is never opened from here, only bound into it or removed.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    pub(crate) workspace: PathBuf,
    pub(crate) user_input: PathBuf,
    pub(crate) home: PathBuf,
    pub(crate) instructions: PathBuf,
    session_directory: PathBuf,
    workspace_directory: PathBuf,
}

impl Places {
    pub(crate) fn of(root: &Path, session: SessionId, workspace: WorkspaceId) -> Self {
        let session_directory = root.join("sessions").join(session.to_string());
        let workspace_directory = root.join("workspaces").join(workspace.to_string());
        Self {
            workspace: workspace_directory.join("tree"),
            user_input: session_directory.join("user-input"),
            home: session_directory.join("home"),
            instructions: session_directory.join("instructions"),
            session_directory,
            workspace_directory,
        }
    }

    /// Makes the directories that hold the others, and the instructions anew. All of these are the server's own.
    pub(crate) fn prepare(&self, instructions: &[LayoutFile]) -> io::Result<()> {
        fs::create_dir_all(&self.session_directory)?;
        fs::create_dir_all(&self.workspace_directory)?;
        replace_instructions(&self.instructions, instructions)
    }

    /// Removes the session's directories. Symbolic links are removed, never followed.
    pub(crate) fn remove_session(&self) -> io::Result<()> {
        remove(&self.session_directory)
    }

    /// Removes the workspace's directory.
    pub(crate) fn remove_workspace(&self) -> io::Result<()> {
        remove(&self.workspace_directory)
    }
}

fn remove(directory: &Path) -> io::Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Makes the instructions anew. They are the server's own: a sandbox can only read them.
fn replace_instructions(directory: &Path, files: &[LayoutFile]) -> io::Result<()> {
    remove(directory)?;
    fs::create_dir_all(directory)?;
    for file in files {
        let path = directory.join(&file.path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, &file.content)?;
    }
    Ok(())
}

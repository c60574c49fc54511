//! Does what was planned: all content is fetched first, then each file takes its place at once. If one cannot, all that was
//! changed is changed back.

use std::{
    fs,
    os::unix::{
        ffi::OsStrExt as _,
        fs::{PermissionsExt as _, symlink},
    },
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Error, Result, bail};
use warren_snapshots::unescape;
use warren_wire::{PathChange, TreeEntry};

use super::{
    Changes,
    fetch::{fetch, staged},
    local::{Local, Root, split},
    plan::{Plan, is_runnable},
};
use crate::{client::Client, render::one_line, report::Advised, terminal::Terminal};

/// What was done besides the plan.
#[derive(Debug, Default)]
pub(super) struct Done {
    /// Directories that the version does not have, and that other files are in.
    pub(super) kept: Vec<String>,
}

/// One path of the plan.
pub(super) struct Step<'a> {
    path: &'a [u8],
    change: &'a PathChange,
    local: &'a Local,
}

pub(super) async fn apply(
    client: &Client,
    changes: &Changes,
    root: &Root,
    plan: &Plan,
    terminal: &mut Terminal,
) -> Result<Done> {
    let steps = plan
        .ready
        .iter()
        .filter_map(|(path, local)| changes.paths.get(path).map(|change| Step { path, change, local }));
    let steps: Vec<Step<'_>> = steps.collect();
    let staging = root.staging().context("failed to make a directory for the new files")?;
    fetch(client, changes, &steps, staging.path(), terminal).await?;
    terminal.status(None);
    check(root, &steps)?;
    let mut placing = Placing::new(root, staging.path());
    match placing.all(&steps) {
        Ok(kept) => Ok(Done { kept }),
        Err(error) => {
            let stuck = placing.undo();
            if stuck.is_empty() {
                return Err(unchanged(error));
            }
            // What was replaced and could not be put back is there and nowhere else.
            Err(half_done(error, &stuck, &staging.keep()))
        }
    }
}

fn unchanged(error: Error) -> Error {
    Advised::new(format!("{error:#}; nothing was changed"), "fix the cause, then pull again").into()
}

/// Says exactly what is not as it was.
fn half_done(error: Error, stuck: &[Vec<u8>], staging: &Path) -> Error {
    let shown = |path: &Vec<u8>| format!("  {}", one_line(&String::from_utf8_lossy(path)));
    let listed: Vec<String> = stuck.iter().map(shown).collect();
    let message =
        format!("{error:#}; these were changed and could not be changed back:\n{}", listed.join("\n"));
    let hint = format!(
        "the replaced files are in `{}`; pull again to change the rest, or move them back",
        staging.display()
    );
    Advised::new(message, hint).into()
}

/// Fetching takes time: whatever was changed meanwhile is not overwritten.
fn check(root: &Root, steps: &[Step<'_>]) -> Result<()> {
    for step in steps {
        if root.look(step.path).with_context(|| step.failed("look at"))? != *step.local {
            let path = one_line(&step.change.path);
            let message = format!("`{path}` was changed while files were fetched; nothing was changed");
            bail!(Advised::new(message, "run the command again"));
        }
    }
    Ok(())
}

/// Changes files, and remembers how each change is undone.
struct Placing<'a> {
    root: &'a Root,
    staging: &'a Path,
    done: Vec<Undo>,
}

/// One change, the other way round.
enum Undo {
    /// The file or link that was there is at `from`.
    PutBack {
        path: Vec<u8>,
        from: PathBuf,
    },
    RemoveFile(Vec<u8>),
    RemoveDirectory(Vec<u8>),
    MakeDirectory {
        path: Vec<u8>,
        mode: u32,
    },
}

impl<'a> Placing<'a> {
    fn new(root: &'a Root, staging: &'a Path) -> Self {
        Self { root, staging, done: Vec::new() }
    }

    /// Takes all steps. Names directories that stay because others have files there.
    fn all(&mut self, steps: &[Step<'_>]) -> Result<Vec<String>> {
        for (n, step) in steps.iter().enumerate() {
            self.remove(n, step).with_context(|| step.failed("remove"))?;
        }
        let mut kept = Vec::new();
        // The deepest first.
        for step in steps.iter().rev() {
            if !self.remove_directory(step).with_context(|| step.failed("remove"))? {
                kept.push(step.change.path.clone());
            }
        }
        for (n, step) in steps.iter().enumerate() {
            self.put(n, step).with_context(|| step.failed("write"))?;
        }
        Ok(kept)
    }

    /// Changes everything back, the last change first. Returns the paths where that failed.
    fn undo(&mut self) -> Vec<Vec<u8>> {
        let mut stuck = Vec::new();
        while let Some(undo) = self.done.pop() {
            if let Err(path) = undo.act(self.root) {
                stuck.push(path);
            }
        }
        stuck.reverse();
        stuck
    }

    /// Moves away files and links that are gone, or in whose place a directory comes.
    fn remove(&mut self, n: usize, step: &Step<'_>) -> std::io::Result<()> {
        let is_gone = step.change.after.as_ref().is_none_or(|after| after.kind == "directory");
        if is_gone && matches!(step.local, Local::File(_) | Local::Link(_)) {
            let from = self.old(n);
            self.root.move_away(step.path, &from)?;
            self.done.push(Undo::PutBack { path: step.path.to_vec(), from });
        }
        Ok(())
    }

    /// Removes a directory that is gone. Says whether it is: one with other files in it stays.
    fn remove_directory(&mut self, step: &Step<'_>) -> std::io::Result<bool> {
        let is_gone = step.change.after.as_ref().is_none_or(|after| after.kind != "directory");
        if !is_gone || *step.local != Local::Directory {
            return Ok(true);
        }
        let mode = self.root.directory_mode(step.path)?;
        let is_removed = self.root.remove_directory(step.path)?;
        if is_removed {
            self.done.push(Undo::MakeDirectory { path: step.path.to_vec(), mode });
        }
        Ok(is_removed)
    }

    fn put(&mut self, n: usize, step: &Step<'_>) -> std::io::Result<()> {
        let Some(after) = &step.change.after else { return Ok(()) };
        let is_directory = after.kind == "directory";
        self.make_directory(if is_directory { step.path } else { split(step.path).0 })?;
        if is_directory {
            return Ok(());
        }
        let new = staged(self.staging, n);
        if after.kind == "symlink" {
            let target = after.target.as_deref().and_then(unescape).unwrap_or_default();
            symlink(std::ffi::OsStr::from_bytes(&target), &new)?;
        } else if let Some(mode) = step.mode(after) {
            fs::set_permissions(&new, fs::Permissions::from_mode(mode))?;
        }
        let path = step.path.to_vec();
        if matches!(step.local, Local::File(_) | Local::Link(_)) {
            let spare = self.old(n);
            let from = self.root.exchange(step.path, &new, &spare)?.to_owned();
            self.done.push(Undo::PutBack { path, from });
        } else {
            self.root.put(step.path, &new)?;
            self.done.push(Undo::RemoveFile(path));
        }
        Ok(())
    }

    fn make_directory(&mut self, path: &[u8]) -> std::io::Result<()> {
        let mut made = Vec::new();
        let done = self.root.make_directory(path, &mut made);
        self.done.extend(made.into_iter().map(Undo::RemoveDirectory));
        done
    }

    /// Where what was there waits.
    fn old(&self, n: usize) -> PathBuf {
        self.staging.join(format!("old-{n}"))
    }
}

impl Undo {
    /// Returns the path if it failed.
    fn act(self, root: &Root) -> Result<(), Vec<u8>> {
        match self {
            Self::PutBack { path, from } => root.put(&path, &from).map_err(|_| path),
            Self::RemoveFile(path) => root.remove_file(&path).map_err(|_| path),
            Self::RemoveDirectory(path) => match root.remove_directory(&path) {
                Ok(true) => Ok(()),
                Ok(false) | Err(_) => Err(path),
            },
            Self::MakeDirectory { path, mode } => root.make_directory_as(&path, mode).map_err(|_| path),
        }
    }
}

impl Step<'_> {
    /// The file that is fetched for it.
    pub(super) fn new_file(&self) -> Option<&TreeEntry> {
        self.change.after.as_ref().filter(|after| after.kind == "file")
    }

    /// A file that is replaced keeps its mode, but for whether it can be run.
    fn mode(&self, after: &TreeEntry) -> Option<u32> {
        let Local::File(stamp) = self.local else { return None };
        let bare = stamp.mode & 0o666;
        Some(if is_runnable(after.mode) { bare | (bare & 0o444) >> 2 } else { bare })
    }

    pub(super) fn failed(&self, doing: &str) -> String {
        format!("failed to {doing} `{}`", one_line(&self.change.path))
    }
}

#[cfg(test)]
mod tests;

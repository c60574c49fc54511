//! Does what was planned: all content is fetched first, then each file takes its place at once.

use std::{
    fs,
    io::Write as _,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use warren_snapshots::unescape;
use warren_wire::{PathChange, TreeEntry};

use super::{
    Changes,
    local::{Local, Root},
    plan::{Plan, is_runnable},
};
use crate::{client::Client, render::one_line, report::Advised};

/// What was done besides the plan.
#[derive(Debug, Default)]
pub(super) struct Done {
    /// Directories that the version does not have, and that other files are in.
    pub(super) kept: Vec<String>,
}

/// One path of the plan.
struct Step<'a> {
    path: &'a [u8],
    change: &'a PathChange,
    local: &'a Local,
}

pub(super) async fn apply(client: &Client, changes: &Changes, root: &Root, plan: &Plan) -> Result<Done> {
    let steps = plan
        .ready
        .iter()
        .filter_map(|(path, local)| changes.paths.get(path).map(|change| Step { path, change, local }));
    let steps: Vec<Step<'_>> = steps.collect();
    let staging = root.staging().context("failed to make a directory for the new files")?;
    for (n, step) in steps.iter().enumerate() {
        if let Some(after) = step.change.after.as_ref().filter(|after| after.kind == "file") {
            let content = changes.content(client, &changes.to, after).await?;
            let staged = staged(staging.path(), n);
            stage(&staged, &content, after).with_context(|| step.failed("fetch"))?;
        }
    }
    check(root, &steps)?;
    remove(root, &steps)?;
    let kept = remove_directories(root, &steps)?;
    for (n, step) in steps.iter().enumerate() {
        step.put(root, &staged(staging.path(), n)).with_context(|| step.failed("write"))?;
    }
    Ok(Done { kept })
}

fn staged(staging: &Path, n: usize) -> PathBuf {
    staging.join(n.to_string())
}

/// Writes a new file with the mode that new files have here.
fn stage(path: &Path, content: &[u8], after: &TreeEntry) -> std::io::Result<()> {
    let mode = if is_runnable(after.mode) { 0o777 } else { 0o666 };
    fs::File::options().write(true).create_new(true).mode(mode).open(path)?.write_all(content)
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

/// Removes files and links that are gone, or in whose place a directory comes.
fn remove(root: &Root, steps: &[Step<'_>]) -> Result<()> {
    let is_there = |step: &&Step<'_>| matches!(step.local, Local::File(_) | Local::Link(_));
    let is_gone = |step: &&Step<'_>| step.change.after.as_ref().is_none_or(|after| after.kind == "directory");
    for step in steps.iter().filter(is_there).filter(is_gone) {
        root.remove_file(step.path).with_context(|| step.failed("remove"))?;
    }
    Ok(())
}

/// Removes directories that are gone, the deepest first. Names those that stay because others have files there.
fn remove_directories(root: &Root, steps: &[Step<'_>]) -> Result<Vec<String>> {
    let is_gone = |step: &&Step<'_>| {
        *step.local == Local::Directory
            && step.change.after.as_ref().is_none_or(|after| after.kind != "directory")
    };
    let mut kept = Vec::new();
    for step in steps.iter().rev().filter(is_gone) {
        if !root.remove_directory(step.path).with_context(|| step.failed("remove"))? {
            kept.push(step.change.path.clone());
        }
    }
    Ok(kept)
}

impl Step<'_> {
    fn put(&self, root: &Root, staged: &Path) -> std::io::Result<()> {
        let Some(after) = &self.change.after else { return Ok(()) };
        match after.kind.as_str() {
            "directory" => root.make_directory(self.path).map(drop),
            "symlink" => {
                let target = after.target.as_deref().and_then(unescape).unwrap_or_default();
                root.put_link(self.path, &target, staged)
            }
            _ => root.put(self.path, staged, self.mode(after)),
        }
    }

    /// A file that is replaced keeps its mode, but for whether it can be run.
    fn mode(&self, after: &TreeEntry) -> Option<u32> {
        let Local::File(stamp) = self.local else { return None };
        let bare = stamp.mode & 0o666;
        Some(if is_runnable(after.mode) { bare | (bare & 0o444) >> 2 } else { bare })
    }

    fn failed(&self, doing: &str) -> String {
        format!("failed to {doing} `{}`", one_line(&self.change.path))
    }
}

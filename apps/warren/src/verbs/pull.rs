//! `warren pull`: brings the changes of a session back into the directory that was imported.
//!
//! The version with the imported files is the base. What differs from it is brought back, if the local file is still what the
//! session ever had: the imported one, or one that an earlier pull brought. Else it is a conflict, and nothing is changed.

mod apply;
mod fetch;
mod local;
mod patch;
mod plan;

use std::{collections::BTreeMap, path::Path};

use anyhow::{Context as _, Result};
use serde::Serialize;
use warren_domain::{SessionId, Version};
use warren_snapshots::unescape;
use warren_wire::{
    PathChange, SessionPage, TreeChange, TreeEntry, VersionChanges, VersionPage, VersionPlace,
};

use super::{files::query, versions::version};
use crate::{
    cli,
    client::{CallError, Client},
    connect::with_server,
    invocation::{Invocation, quoted},
    lookup::{find, list_path},
    render::one_line,
    report::{Advised, Outcome},
    setting::Setting,
    terminal::Terminal,
};
use local::Root;
use plan::Plan;

/// Conflicts that are listed.
const N_LISTED: usize = 20;

/// Runs the verb.
pub(crate) async fn run(setting: &Setting, args: cli::Pull, terminal: &mut Terminal) -> Result<Outcome> {
    with_server(setting, async |client| act(client, &args, &setting.invocation, terminal).await).await
}

async fn act(
    client: &Client,
    args: &cli::Pull,
    invocation: &Invocation,
    terminal: &mut Terminal,
) -> Result<()> {
    let session = find(client, &args.session).await?;
    let page: VersionPage = client.get(&format!("/api/sessions/{session}/versions?limit=1")).await?;
    let to = match &args.version {
        Some(named) => version(named)?,
        None => page.head.version,
    };
    if args.version.is_none() {
        if is_running(client, session).await? {
            eprintln!("A run is active; pulling v{to}, the last saved version.");
        } else if page.head.dirty {
            let save = invocation.command(&["snapshot", &session.to_string()]);
            eprintln!("There are changes since v{to}; `{save}` saves them as a version first.");
        }
    }
    let mut changes = Changes::read(client, session, to).await?;
    let in_git = changes.leave_git_out();
    changes.leave_empty_outputs_out();
    if args.patch {
        patch::print(client, &changes, terminal).await?;
        tell_place(&args.directory);
        return Ok(());
    }
    // Before anything is looked at, so that a wrong name is told as such.
    let root = Root::open(&args.directory)?;
    let plan = Plan::make(client, &mut changes, &root).await?;
    let done = if args.dry_run || !plan.conflicts.is_empty() {
        apply::Done::default()
    } else {
        apply::apply(client, &changes, &root, &plan, terminal).await?
    };
    terminal.status(None);
    tell(args, &changes, &plan, &done, in_git, terminal)
}

/// What differs between the base and the version that is brought back.
struct Changes {
    from: VersionPlace,
    to: VersionPlace,
    /// By path, as bytes.
    paths: BTreeMap<Vec<u8>, PathChange>,
}

impl Changes {
    /// Of a version against the files that were imported last.
    async fn read(client: &Client, session: SessionId, to: Version) -> Result<Self> {
        let path = format!("/api/sessions/{session}/versions/{to}/changes?limit=5000");
        let mut page: VersionChanges = client.get(&path).await?;
        let mut all = std::mem::take(&mut page.changes);
        while let Some(cursor) = page.next_cursor.take() {
            page = client.get(&format!("{path}&cursor={}", query(&cursor))).await?;
            all.append(&mut page.changes);
        }
        let mut paths = BTreeMap::new();
        for change in all {
            let bytes = unescape(&change.path).filter(|bytes| is_plain(bytes));
            let bytes = bytes.with_context(|| format!("`{}` is not a valid path", one_line(&change.path)))?;
            paths.insert(bytes, change);
        }
        Ok(Self { from: page.from, to: page.to, paths })
    }

    /// What an agent writes into `.git` can run programs on this machine. Says how much it was.
    fn leave_git_out(&mut self) -> usize {
        let before = self.paths.len();
        self.paths.retain(|path, _| !is_git(path));
        before - self.paths.len()
    }

    /// A sandbox makes `outputs/` for its own use: empty, it is no change of the user's files.
    fn leave_empty_outputs_out(&mut self) {
        const OUTPUTS: &[u8] = b"outputs";
        let is_made = |change: &PathChange| {
            change.before.is_none() && change.after.as_ref().is_some_and(|after| after.kind == "directory")
        };
        let is_beneath = |path: &Vec<u8>| path.starts_with(b"outputs/");
        if self.paths.get(OUTPUTS).is_some_and(is_made) && !self.paths.keys().any(is_beneath) {
            self.paths.remove(OUTPUTS);
        }
    }

    /// The content of a file as it was, or as it is.
    async fn content(
        &self,
        client: &Client,
        place: &VersionPlace,
        entry: &TreeEntry,
    ) -> Result<bytes::Bytes, CallError> {
        client.bytes(&content_path(place, entry)).await
    }
}

/// The route of a file's content.
fn content_path(place: &VersionPlace, entry: &TreeEntry) -> String {
    let VersionPlace { session_id, version, .. } = place;
    format!("/api/sessions/{session_id}/versions/{version}/file?path={}", query(&entry.path))
}

async fn is_running(client: &Client, session: SessionId) -> Result<bool, CallError> {
    let page: SessionPage = client.get(&list_path(1, Some(&session.to_string()), None)).await?;
    Ok(page.sessions.iter().any(|it| it.session_id == session && it.active_run_id.is_some()))
}

/// Whether a path leads nowhere but beneath a directory.
fn is_plain(path: &[u8]) -> bool {
    !path.contains(&0) && path.split(|byte| *byte == b'/').all(|name| !matches!(name, b"" | b"." | b".."))
}

/// Whether a path is in a repository's own directory, however a file system may spell it.
fn is_git(path: &[u8]) -> bool {
    path.split(|byte| *byte == b'/').any(|name| name.eq_ignore_ascii_case(b".git"))
}

/// What `--json` prints.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    from: &'a VersionPlace,
    to: &'a VersionPlace,
    dry_run: bool,
    changes: Vec<Listed<'a>>,
    conflicts: Vec<&'a str>,
    left_out: Vec<&'a str>,
    /// Directories that the version does not have, and that hold other files.
    kept: &'a [String],
    /// How many changes in `.git` stay in the session.
    in_git: usize,
}

#[derive(Serialize)]
struct Listed<'a> {
    path: &'a str,
    change: TreeChange,
}

fn tell(
    args: &cli::Pull,
    changes: &Changes,
    plan: &Plan,
    done: &apply::Done,
    in_git: usize,
    terminal: &mut Terminal,
) -> Result<()> {
    let is_refused = !plan.conflicts.is_empty() && !args.dry_run;
    let files = if is_refused { Vec::new() } else { plan.files(changes) };
    let paths = |all: &'_ [Vec<u8>]| -> Vec<&str> {
        all.iter().filter_map(|path| changes.paths.get(path)).map(|change| change.path.as_str()).collect()
    };
    let (conflicts, left_out) = (paths(&plan.conflicts), paths(&plan.left_out));
    if args.json {
        let listed = files.iter().map(|change| Listed { path: &change.path, change: change.change });
        let (from, to) = (&changes.from, &changes.to);
        let report = Report {
            from,
            to,
            dry_run: args.dry_run,
            changes: listed.collect(),
            conflicts: conflicts.clone(),
            left_out,
            kept: &done.kept,
            in_git,
        };
        terminal.line(&serde_json::to_string(&report)?)?;
    } else {
        for change in &files {
            let mark = match change.change {
                TreeChange::Added => "A",
                TreeChange::Changed => "M",
                TreeChange::Removed => "D",
            };
            terminal.line(&format!("{mark} {}", one_line(&change.path)))?;
        }
        for path in left_out {
            eprintln!("left out: {} (a link that points outside the directory)", one_line(path));
        }
        for path in &done.kept {
            eprintln!("kept: {} (it holds other files)", one_line(path));
        }
        if in_git > 0 {
            eprintln!("left out: {in_git} changes in .git, which stay in the session");
        }
    }
    if !conflicts.is_empty() {
        return Err(conflict(&args.session, &conflicts));
    }
    if !args.json {
        let n = match files.len() {
            1 => "1 file".to_owned(),
            n => format!("{n} files"),
        };
        let did = if args.dry_run { "would change" } else { "changed" };
        eprintln!("v{} → v{}: {n} {did}", changes.from.version, changes.to.version);
    }
    Ok(())
}

/// In a subdirectory of a repository `git apply` skips, without a word, every file that the patch names from here.
fn tell_place(directory: &Path) {
    let Ok(here) = directory.canonicalize() else { return };
    let Some(top) = here.ancestors().find(|above| above.join(".git").exists()) else { return };
    if let Ok(inside) = here.strip_prefix(top)
        && inside != Path::new("")
    {
        let inside = quoted(&inside.to_string_lossy());
        eprintln!(
            "This is a subdirectory of a repository: apply the patch with `git apply --directory={inside}`."
        );
    }
}

fn conflict(session: &str, paths: &[&str]) -> anyhow::Error {
    let listed: Vec<String> =
        paths.iter().take(N_LISTED).map(|path| format!("  {}", one_line(path))).collect();
    let more = paths.len().saturating_sub(N_LISTED);
    let more = if more > 0 { format!("\n  and {more} more") } else { String::new() };
    let message = format!(
        "local files differ from the imported ones; nothing was changed:\n{}{more}",
        listed.join("\n")
    );
    let session = quoted(session);
    let hint = format!(
        "move them away and pull again; or commit them, then `warren pull {session} --patch | git apply --3way`"
    );
    Advised::new(message, hint).into()
}

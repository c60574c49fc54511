//! A local directory on its way into a session: looked at, packed as a tar, and sent while it is read.
//!
//! Nothing is followed: links go as links. What no version would keep is left out before it is sent, and named.

mod tree;
mod write;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use bytes::Bytes;
use futures::stream;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::sync::mpsc;
use warren_domain::SessionId;
use warren_wire::VersionDetail;

use crate::{
    client::{CallError, Client, is_loopback},
    conversation::Form,
    render::one_line,
    report::{Advised, Interrupted},
    signals::Signals,
};
use tree::Found;

/// Pieces that wait to be sent. While there are more, packing waits.
const WAITING: usize = 8;

/// Names that are listed of what was left out.
const N_LISTED: usize = 10;

/// How a directory is packed.
#[derive(Debug, Clone)]
pub(crate) struct Packing {
    pub(crate) directory: PathBuf,
    /// The data directory of this program: tokens and logs, which are for no agent.
    pub(crate) data: PathBuf,
    /// Leave out what `.gitignore` and `.ignore` name.
    pub(crate) respects_ignore: bool,
    /// Leave out `.git`.
    pub(crate) without_git: bool,
}

/// A directory that can be sent.
pub(crate) struct Packed {
    root: PathBuf,
    found: Found,
    /// Files that the directory's ignore files name go along.
    has_ignored: bool,
}

impl Packing {
    /// Looks at everything in the directory.
    pub(crate) async fn look(self) -> Result<Packed> {
        let shown = self.directory.display().to_string();
        let root = self.directory.canonicalize().with_context(|| format!("failed to open `{shown}`"))?;
        if !root.is_dir() {
            bail!(Advised::new(format!("`{shown}` is not a directory"), "name the directory to work in"));
        }
        let has_ignore_file = [".gitignore", ".ignore"].iter().any(|name| root.join(name).exists());
        let has_ignored = has_ignore_file && !self.respects_ignore;
        let at = root.clone();
        let looking = tokio::task::spawn_blocking(move || tree::look(&at, &self));
        let found = unless_interrupted(async { Ok(looking.await?) }).await?;
        Ok(Packed { root, found, has_ignored })
    }
}

/// Ends early when the user stops the command.
async fn unless_interrupted<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let mut signals = Signals::catch()?;
    tokio::select! {
        done = work => done,
        () = signals.next() => Err(Interrupted("nothing was imported").into()),
    }
}

impl Packed {
    /// Sends it. Says what was left out, unless the output is for a program.
    pub(crate) async fn send(self, client: &Client, session: SessionId, form: Form) -> Result<()> {
        let bar = bar(&self.root, self.found.bytes, form);
        let (left_out, has_ignored) = (self.found.left_out.clone(), self.has_ignored);
        let imported = unless_interrupted(self.upload(client, session, bar.clone())).await;
        bar.finish_and_clear();
        let imported = imported?;
        if form == Form::Text {
            tell(&imported, left_out);
            if has_ignored {
                eprintln!(
                    "Ignored files, such as `.env`, were imported too; `--respect-ignore` leaves them out."
                );
            }
        }
        Ok(())
    }

    async fn upload(self, client: &Client, session: SessionId, bar: ProgressBar) -> Result<VersionDetail> {
        // Full: the thread that packs waits. Dropped: it stops.
        let (pieces, waiting) = mpsc::channel::<Bytes>(WAITING);
        // On this machine compression only costs time.
        let compression = if is_loopback(client.url()) { None } else { Some(flate2::Compression::fast()) };
        let (shown, sending) = (bar.clone(), bar);
        let packing = tokio::task::spawn_blocking(move || {
            write::write(&self.root, &self.found, pieces, compression, &shown)
        });
        let body = stream::unfold((waiting, sending), |(mut waiting, sending)| async move {
            let Some(piece) = waiting.recv().await else {
                show_saving(&sending);
                return None;
            };
            Some((Ok::<_, std::io::Error>(piece), (waiting, sending)))
        });
        let path = format!("/api/sessions/{session}/fs/import");
        let answer = client.post_stream(&path, reqwest::Body::wrap_stream(body)).await;
        match (answer, packing.await?) {
            (Ok(imported), Ok(())) => Ok(imported),
            // Whoever is refused stops packing: the server's reason is the better one.
            (Err(refused @ CallError::Refused(_)), _) => Err(refused.into()),
            (_, Err(error)) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                Err(error).context("failed to read the directory")
            }
            (Err(error), _) => Err(error.into()),
            (Ok(_), Err(error)) => Err(error).context("the server answered before the upload was complete"),
        }
    }
}

/// What was left out, by whom and why.
fn tell(imported: &VersionDetail, left_out: Vec<(String, &'static str)>) {
    let here = left_out.into_iter().map(|(path, why)| (path, why.to_owned()));
    let excluded = imported.excluded.iter().map(|path| (path.clone(), "excluded from versions".to_owned()));
    let skipped = imported.skipped.iter().map(|skipped| {
        let why = match skipped.why.as_str() {
            "link_out" => "a link that points outside the directory",
            "special" => "a device, pipe or socket",
            other => other,
        };
        (skipped.path.clone(), why.to_owned())
    });
    let all: Vec<(String, String)> = here.chain(excluded).chain(skipped).collect();
    for (path, why) in all.iter().take(N_LISTED) {
        eprintln!("left out: {} ({why})", one_line(path));
    }
    if all.len() > N_LISTED {
        eprintln!("left out: {} more", all.len() - N_LISTED);
    }
}

/// All is sent. The server takes its time to unpack and keep it, and a full bar that stands still would say nothing of that.
fn show_saving(bar: &ProgressBar) {
    if let Ok(style) = ProgressStyle::with_template("{prefix:.bold} {spinner} {msg} {elapsed:.dim}") {
        bar.set_style(style);
    }
    bar.set_message("saving the files as a version");
    bar.enable_steady_tick(Duration::from_millis(100));
}

fn bar(root: &Path, bytes: u64, form: Form) -> ProgressBar {
    let target = match form {
        // Drawn on a terminal only.
        Form::Text => ProgressDrawTarget::stderr(),
        Form::Json => ProgressDrawTarget::hidden(),
    };
    let bar = ProgressBar::with_draw_target(Some(bytes), target);
    let template = "{prefix:.bold} {bar:24.cyan/dim} {bytes:>10}/{total_bytes:<10} {wide_msg:.dim}";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("━╸─"));
    }
    let name = root.file_name().map(|name| one_line(&name.to_string_lossy())).unwrap_or_default();
    bar.set_prefix(format!("Importing {name}"));
    bar
}

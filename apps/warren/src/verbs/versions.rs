//! `warren versions`, `diff`, `fork`, `restore`, `label` and `snapshot`.

use anyhow::Result;
use serde_json::value::RawValue;
use warren_domain::{FileCounts, SessionId, Version};
use warren_env::Env;
use warren_wire::{
    FileDiff, SessionFork, SessionForked, SessionRestore, TreeChange, VersionDiff, VersionItem, VersionLabel,
    VersionPage,
};

use crate::{
    cli,
    client::Client,
    connect::with_server,
    invocation::Invocation,
    lookup::find,
    render::{Paint, clean, one_line},
    report::{Advised, Outcome},
    setting::Setting,
    table::Table,
    terminal::Terminal,
    times::relative,
};

/// Runs `warren versions`.
pub(crate) async fn list(setting: &Setting, args: cli::Versions, terminal: &mut Terminal) -> Result<Outcome> {
    with_server(setting, async |client| show_list(client, &args, terminal).await).await
}

/// Runs `warren diff`.
pub(crate) async fn diff(setting: &Setting, args: cli::Diff, terminal: &mut Terminal) -> Result<Outcome> {
    with_server(setting, async |client| show_diff(client, &args, terminal).await).await
}

/// Runs `warren fork`.
pub(crate) async fn fork(setting: &Setting, args: cli::Fork, terminal: &mut Terminal) -> Result<Outcome> {
    with_server(setting, async |client| make_fork(client, &args, &setting.invocation, terminal).await).await
}

/// Runs `warren restore`.
pub(crate) async fn restore(
    setting: &Setting,
    args: cli::Restore,
    terminal: &mut Terminal,
) -> Result<Outcome> {
    with_server(setting, async |client| {
        let session = find(client, &args.session).await?;
        let body = SessionRestore { version: version(&args.version)? };
        let answer: Box<RawValue> =
            client.post_long(&format!("/api/sessions/{session}/restore"), &body).await?;
        say(&answer, args.json, terminal, |made| format!("Restored v{} as v{}", body.version, made.version))
    })
    .await
}

/// Runs `warren snapshot`.
pub(crate) async fn snapshot(
    setting: &Setting,
    args: cli::Snapshot,
    terminal: &mut Terminal,
) -> Result<Outcome> {
    with_server(setting, async |client| {
        let session = find(client, &args.session).await?;
        let path = format!("/api/sessions/{session}/snapshot");
        let answer: Box<RawValue> = client.post_long(&path, &serde_json::json!({})).await?;
        say(&answer, args.json, terminal, |made| format!("The latest version is v{}", made.version))
    })
    .await
}

/// Runs `warren label`.
pub(crate) async fn label(setting: &Setting, args: cli::Label, terminal: &mut Terminal) -> Result<Outcome> {
    with_server(setting, async |client| {
        let session = find(client, &args.session).await?;
        let version = version(&args.version)?;
        let path = format!("/api/sessions/{session}/versions/{version}");
        if args.label.is_none() && !args.remove {
            let answer: Box<RawValue> = client.get(&path).await?;
            return say(&answer, args.json, terminal, |found| match &found.label {
                Some(label) => clean(label),
                None => format!("v{} has no label", found.version),
            });
        }
        let body = VersionLabel { label: args.label.clone() };
        let answer: Box<RawValue> = client.put(&format!("{path}/label"), &body).await?;
        say(&answer, args.json, terminal, |made| match &made.label {
            Some(label) => format!("Labelled v{} `{}`; it is kept forever", made.version, clean(label)),
            None => format!("Removed the label from v{}", made.version),
        })
    })
    .await
}

/// Shows a version that was made or changed.
fn say(
    answer: &RawValue,
    json: bool,
    terminal: &mut Terminal,
    words: impl FnOnce(&VersionItem) -> String,
) -> Result<()> {
    if json {
        return Ok(terminal.line(answer.get())?);
    }
    let made: VersionItem = serde_json::from_str(answer.get())?;
    Ok(terminal.line(&words(&made))?)
}

pub(super) async fn show_list(client: &Client, args: &cli::Versions, terminal: &mut Terminal) -> Result<()> {
    let session = find(client, &args.session).await?;
    let path = format!("/api/sessions/{session}/versions?limit={}", args.limit);
    let answer: Box<RawValue> = client.get(&path).await?;
    if args.json {
        return Ok(terminal.line(answer.get())?);
    }
    let page: VersionPage = serde_json::from_str(answer.get())?;
    if page.versions.is_empty() {
        eprintln!("No versions yet: the first run makes one.");
        return Ok(());
    }
    let now = Env::system().now();
    let mut table = Table::new(["VERSION", "CAUSE", "CREATED", "FILES", "BLOCKS", "LABEL"]);
    for version in &page.versions {
        table.row([
            format!("v{}", version.version),
            why(version),
            relative(version.created_at, now),
            files(version.files),
            version.blocks.to_string(),
            clean(version.label.as_deref().unwrap_or_default()),
        ]);
    }
    terminal.write(&table.to_text(terminal.paint()))?;
    if page.head.dirty {
        eprintln!(
            "There are changes since v{}; they become a version before the next run.",
            page.head.version
        );
    }
    if page.next_cursor.is_some() {
        eprintln!("There are more versions: raise `--limit`.");
    }
    Ok(())
}

fn why(version: &VersionItem) -> String {
    match (version.restored, version.expired) {
        (_, true) => format!("{} (files not kept)", version.cause),
        (Some(restored), false) => format!("{} of v{restored}", version.cause),
        (None, false) => version.cause.to_string(),
    }
}

fn files(FileCounts { added, changed, removed }: FileCounts) -> String {
    let parts = [("+", added), ("~", changed), ("-", removed)];
    let told: Vec<String> =
        parts.into_iter().filter(|(_, n)| *n > 0).map(|(sign, n)| format!("{sign}{n}")).collect();
    if told.is_empty() { "=".to_owned() } else { told.join(" ") }
}

async fn show_diff(client: &Client, args: &cli::Diff, terminal: &mut Terminal) -> Result<()> {
    let session = find(client, &args.session).await?;
    let path = diff_path(client, session, args).await?;
    let answer: Box<RawValue> = client.get(&path).await?;
    if args.json {
        return Ok(terminal.line(answer.get())?);
    }
    let diff: VersionDiff = serde_json::from_str(answer.get())?;
    let paint = terminal.paint();
    for file in &diff.files {
        terminal.write(&file_text(file, paint))?;
    }
    if diff.truncated {
        eprintln!("More files differ than are shown.");
    }
    let said = match diff.blocks.len() {
        1 => "1 new block".to_owned(),
        n => format!("{n} new blocks"),
    };
    let files = match diff.files.len() {
        1 => "1 file".to_owned(),
        n => format!("{n} files"),
    };
    let line = format!("v{} → v{}: {files}, {said}", diff.from, diff.to);
    Ok(terminal.line(&paint.dim(&line))?)
}

/// `A..B` or `A B`, `B` against its base, or the latest against its base.
async fn diff_path(client: &Client, session: SessionId, args: &cli::Diff) -> Result<String> {
    let path = |to: Version| format!("/api/sessions/{session}/versions/{to}/diff");
    if let (Some(from), Some(to)) = (&args.versions, &args.to) {
        return Ok(format!("{}?against={}", path(version(to)?), version(from)?));
    }
    match args.versions.as_deref().map(|text| text.split_once("..").ok_or(text)) {
        Some(Ok((from, to))) => Ok(format!("{}?against={}", path(version(to)?), version(from)?)),
        Some(Err(to)) => Ok(path(version(to)?)),
        None => {
            let page: VersionPage = client.get(&format!("/api/sessions/{session}/versions?limit=1")).await?;
            Ok(path(page.head.version))
        }
    }
}

fn file_text(file: &FileDiff, paint: Paint) -> String {
    let path = one_line(&file.path);
    let mark = match file.change {
        TreeChange::Added => "added",
        TreeChange::Removed => "removed",
        TreeChange::Changed => "changed",
    };
    let mut text = format!("{} {mark}\n", paint.bold(&path));
    match &file.diff {
        // The two lines that name the files say nothing new.
        Some(diff) => diff.lines().skip(2).for_each(|line| {
            text.push_str(&clean(line));
            text.push('\n');
        }),
        None => text.push_str(&paint.dim(&format!("({})\n", without_lines(file)))),
    }
    if file.truncated && file.diff.is_some() {
        text.push_str(&paint.dim("(cut here)\n"));
    }
    text
}

/// What there is to say of a file that has no lines to show.
fn without_lines(file: &FileDiff) -> String {
    let modes =
        file.before.as_ref().zip(file.after.as_ref()).map(|(before, after)| (before.mode, after.mode));
    let is_same = file.before.as_ref().map(|it| &it.hash) == file.after.as_ref().map(|it| &it.hash);
    match modes {
        Some((before, after)) if is_same && before != after => format!("mode {before:04o} → {after:04o}"),
        _ if file.binary => "not text".to_owned(),
        _ if file.truncated => "too large to show".to_owned(),
        None if file.kind == "file" => "empty".to_owned(),
        None => file.kind.clone(),
        Some(_) => "same content".to_owned(),
    }
}

async fn make_fork(
    client: &Client,
    args: &cli::Fork,
    invocation: &Invocation,
    terminal: &mut Terminal,
) -> Result<()> {
    let session = find(client, &args.session).await?;
    let body = SessionFork {
        version: args.version.as_deref().map(version).transpose()?,
        name: args.name.clone(),
        agent_type: args.agent.as_deref().map(Into::into),
        profile: args.profile.as_deref().map(Into::into),
    };
    let answer: Box<RawValue> = client.post_long(&format!("/api/sessions/{session}/fork"), &body).await?;
    if args.json {
        return Ok(terminal.line(answer.get())?);
    }
    let made: SessionForked = serde_json::from_str(answer.get())?;
    terminal.line(&made.session.session_id.to_string())?;
    for loss in &made.loss {
        eprintln!("{}", clean(loss));
    }
    let session = made.session.session_id.to_string();
    eprintln!("Continue with: {}", invocation.command(&["chat", "--session", &session]));
    Ok(())
}

/// `7` or `v7`.
pub(super) fn version(text: &str) -> Result<Version> {
    let text = text.trim();
    let digits = text.strip_prefix('v').unwrap_or(text);
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.parse().ok().filter(|_| is_number);
    let advice = "a version is a number such as `7` or `v7`; `warren versions SESSION` lists them";
    Ok(Version(number.ok_or_else(|| Advised::new(format!("`{text}` is not a version"), advice))?))
}

#[cfg(test)]
mod tests {
    use warren_domain::{BlobHash, FileCounts, Version};
    use warren_wire::{FileDiff, FileLook, TreeChange};

    use super::{file_text, files, version};
    use crate::render::Paint;

    #[test]
    fn a_version_is_a_number_with_or_without_its_letter() {
        assert_eq!(version("7").ok(), Some(Version(7)));
        assert_eq!(version("v12").ok(), Some(Version(12)));
        for wrong in ["latest", "", "v", "vv1", "v-1", "+1", "1.0"] {
            assert!(version(wrong).is_err(), "{wrong}");
        }
    }

    fn look(content: &str, mode: u32) -> FileLook {
        FileLook { size_bytes: content.len() as u64, hash: BlobHash(content.to_owned()), mode }
    }

    fn file(change: TreeChange, before: Option<FileLook>, after: Option<FileLook>) -> FileDiff {
        FileDiff {
            path: "a\n+++ b/x".to_owned(),
            change,
            kind: "file".to_owned(),
            binary: false,
            before,
            after,
            diff: None,
            truncated: false,
            added: None,
            removed: None,
        }
    }

    #[test]
    fn a_file_without_lines_to_show_says_what_became_of_it() {
        let added = file(TreeChange::Added, None, Some(look("", 0o644)));
        let removed = file(TreeChange::Removed, Some(look("", 0o644)), None);
        let mode = file(TreeChange::Changed, Some(look("x", 0o644)), Some(look("x", 0o755)));
        let directory = FileDiff { kind: "directory".to_owned(), ..added.clone() };
        let binary = FileDiff { binary: true, ..mode.clone() };
        let long = FileDiff { truncated: true, after: Some(look("y", 0o644)), ..mode.clone() };
        for (file, expect) in [
            (added, "a\\n+++ b/x added\n(empty)\n"),
            (removed, "a\\n+++ b/x removed\n(empty)\n"),
            (directory, "a\\n+++ b/x added\n(directory)\n"),
            (mode, "a\\n+++ b/x changed\n(mode 0644 → 0755)\n"),
            (binary, "a\\n+++ b/x changed\n(mode 0644 → 0755)\n"),
            (long, "a\\n+++ b/x changed\n(too large to show)\n"),
        ] {
            assert_eq!(file_text(&file, Paint::Plain), expect);
        }
    }

    #[test]
    fn counts_of_files_are_short_and_say_when_nothing_changed() {
        assert_eq!(files(FileCounts { added: 2, changed: 0, removed: 1 }), "+2 -1");
        assert_eq!(files(FileCounts::default()), "=");
    }
}

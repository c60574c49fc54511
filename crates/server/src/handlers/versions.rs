//! Versions: listed, compared, read, named, made, restored and forked.

use axum::http::{HeaderValue, StatusCode, header};
use warren_domain::Version;
use warren_runtime::api::{DiffFiles, DiffLines, DiffWanted, Fork};
use warren_wire::{SessionFork, SessionForked, SessionRestore, VersionHead, VersionLabel, VersionPage};

use super::sessions::{check_name, limit};
use crate::{
    choke::Call,
    convert::{self, versions as told},
    failure::Failure,
    file_answer::{self, Range},
    respond::{self, Answer},
};

/// Versions in one part of a list, unless the client says otherwise.
const DEFAULT_LIMIT: u64 = 50;
/// Paths in one part of a list of changes, unless the client says otherwise.
pub(super) const DEFAULT_CHANGES: u64 = 1_000;
/// Labels longer than this are not labels.
const LONGEST_LABEL: usize = 100;

pub(crate) async fn list(call: Call) -> Answer {
    let before = call.query().text("cursor").map(cursor).transpose()?;
    let limit = limit(&call, DEFAULT_LIMIT);
    let list = call.runtime().versions().version_list(call.session()?, before, limit).await?;
    let last = list.page.items.last().map(|version| version.version.to_string());
    respond::ok(&VersionPage {
        next_cursor: last.filter(|_| list.page.more),
        versions: list.page.items.into_iter().map(told::item).collect(),
        head: VersionHead { version: list.latest, dirty: list.is_dirty },
    })
}

pub(crate) async fn get(call: Call) -> Answer {
    let found = call.runtime().versions().version_get(call.session()?, version(&call)?).await?;
    respond::ok(&told::detail(found))
}

pub(crate) async fn label(call: Call) -> Answer {
    let VersionLabel { label } = call.json()?;
    if let Some(label) = &label {
        check_label(label)?;
    }
    let labelled = call.runtime().versions().version_label(call.session()?, version(&call)?, label).await?;
    respond::ok(&told::item(labelled))
}

pub(crate) async fn diff(call: Call) -> Answer {
    let against = call.query().number("against").map(Version);
    let (session, version, wanted) = (call.session()?, version(&call)?, wanted(&call)?);
    let diff = call.runtime().versions().version_diff(session, version, against, wanted).await?;
    respond::ok(&told::diff(diff))
}

pub(crate) async fn changes(call: Call) -> Answer {
    let against = call.query().number("against").map(Version);
    let limit = limit(&call, DEFAULT_CHANGES) as usize;
    let found =
        call.runtime().version_files().version_changes(call.session()?, version(&call)?, against).await?;
    respond::ok(&told::changes(found, call.query().text("cursor"), limit))
}

fn wanted(call: &Call) -> Result<DiffWanted, Failure> {
    let lines = match call.query().text("lines") {
        Some("none") => DiffLines::None,
        Some("counts") => DiffLines::Counts,
        _ => DiffLines::All,
    };
    let files = match (call.query().text("path"), call.query().text("after")) {
        (None, None) => DiffFiles::All,
        (None, Some(after)) => DiffFiles::After(after.to_owned()),
        (Some(path), None) => DiffFiles::One(path.to_owned()),
        (Some(_), Some(_)) => {
            return Err(Failure::bad_request("`path` and `after` cannot be combined")
                .hint("leave one of the two out"));
        }
    };
    let limit = call.query().number("limit").and_then(|limit| usize::try_from(limit).ok());
    Ok(DiffWanted { lines, files, limit })
}

pub(crate) async fn files(call: Call) -> Answer {
    let path = call.query().text("path").unwrap_or_default();
    let entries =
        call.runtime().version_files().version_files(call.session()?, version(&call)?, path).await?;
    respond::ok(&told::listing(path, entries))
}

pub(crate) async fn file(call: Call) -> Answer {
    let Some(path) = call.query().text("path") else {
        return Err(Failure::bad_request("`path` is needed"));
    };
    let (session, version) = (call.session()?, version(&call)?);
    let files = call.runtime().version_files();
    let whole = files.version_file(session, version, path, None).await?;
    let tag = format!("\"{}\"", whole.hash);
    if file_answer::is_known(call.headers(), &tag) {
        return respond::not_modified(&tag);
    }
    match file_answer::wanted(call.headers(), &tag, whole.size_bytes) {
        None => respond::file(StatusCode::OK, whole, &tag),
        Some(Range::Part { first, last }) => {
            let part = files.version_file(session, version, path, Some(first..last + 1)).await?;
            respond::file(StatusCode::PARTIAL_CONTENT, part, &tag)
        }
        Some(Range::Beyond) => Ok(file_answer::beyond(whole.size_bytes)),
    }
}

pub(crate) async fn archive(call: Call) -> Answer {
    let (session, version) = (call.session()?, version(&call)?);
    let pieces = call.runtime().version_files().version_archive(session, version).await?;
    let mut response = respond::zipped(pieces);
    let name = format!("attachment; filename=\"{session}-v{version}.tar.gz\"");
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_str(&name).map_err(Failure::internal)?);
    Ok(response)
}

pub(crate) async fn commit(call: Call) -> Answer {
    respond::ok(&told::item(call.runtime().versions().version_commit(call.session()?).await?))
}

pub(crate) async fn restore(call: Call) -> Answer {
    let SessionRestore { version } = call.json()?;
    let restored = call.runtime().versions().version_restore(call.session()?, version).await?;
    respond::ok(&told::item(restored))
}

pub(crate) async fn fork(call: Call) -> Answer {
    let wanted: SessionFork = call.json_or_default()?;
    check_name(wanted.name.as_deref())?;
    let (session, gateway) = (call.session()?, call.app().gateway());
    // A fork stays in the project of its origin, so that is where its profile is looked up, whoever asks.
    let profile = match wanted.profile {
        Some(asked) => {
            let project = call.runtime().sessions().session_get(session).await?.record.project_id;
            Some(gateway.profile_resolve(call.identity()?, project, Some(asked)).await?)
        }
        None => None,
    };
    let fork = Fork {
        session,
        version: wanted.version,
        name: wanted.name,
        agent_type: wanted.agent_type,
        profile,
        made_by: call.identity()?.user().map(str::to_owned),
    };
    let forked = call.runtime().versions().session_fork(fork).await?;
    let path = format!("/api/sessions/{}", forked.summary.record.session_id);
    let made = SessionForked { session: convert::session(forked.summary), loss: forked.loss };
    let mut response = respond::json(StatusCode::CREATED, &made)?;
    response.headers_mut().insert(header::LOCATION, HeaderValue::from_str(&path).map_err(Failure::internal)?);
    Ok(response)
}

fn version(call: &Call) -> Result<Version, Failure> {
    let text = call.parameter("version");
    text.parse().map(Version).map_err(|_| Failure::not_found("version", text.escape_debug()))
}

fn check_label(label: &str) -> Result<(), Failure> {
    if label.trim().is_empty() || label.chars().count() > LONGEST_LABEL {
        let message = format!("`label` must have 1 to {LONGEST_LABEL} characters, or be null");
        return Err(Failure::bad_request(message));
    }
    // PostgreSQL keeps no text with it.
    if label.contains('\0') {
        return Err(Failure::bad_request("`label` must not contain NUL"));
    }
    Ok(())
}

fn cursor(text: &str) -> Result<Version, Failure> {
    text.parse().map(Version).map_err(|_| {
        Failure::bad_request("`cursor` is not valid")
            .hint("pass the `nextCursor` of an earlier response unchanged")
    })
}

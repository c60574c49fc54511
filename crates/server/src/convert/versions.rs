//! Versions, from what the runtime says to what clients read.

use warren_domain::BlobHash;
use warren_runtime::api::{
    FileDiff as FoundFile, PathChange as FoundChange, TreeEntry as Found, VersionChanges as FoundChanges,
    VersionDiff as FoundDiff, VersionRecord, shown_path,
};
use warren_wire::{
    FileDiff, FileLook, PathChange, SkippedFile, TranscriptLength, TreeChange, TreeEntry, TreeListing,
    VersionChanges, VersionDetail, VersionDiff, VersionItem, VersionPlace,
};

pub(crate) fn item(record: VersionRecord) -> VersionItem {
    VersionItem {
        version: record.version,
        base: record.base,
        cause: record.cause,
        run_id: record.run_id,
        seq: record.seq,
        created_at: record.created_at,
        size_bytes: record.size_bytes,
        files: record.files,
        blocks: record.blocks,
        cost_usd: record.usage.cost_usd,
        usage: record.usage,
        label: record.label,
        shared: record.shared,
        restored: record.restored,
        expired: record.expired,
    }
}

pub(crate) fn detail(mut record: VersionRecord) -> VersionDetail {
    let outward = |paths: Vec<String>| paths.iter().map(|path| shown_path(path)).collect();
    let excluded = outward(std::mem::take(&mut record.excluded));
    let unstable = outward(std::mem::take(&mut record.unstable));
    let skipped = std::mem::take(&mut record.skipped).into_iter();
    let skipped = skipped.map(|(path, why)| SkippedFile { path: shown_path(&path), why }).collect();
    let transcripts = std::mem::take(&mut record.transcripts);
    // What begins with `@` holds no conversation: it is how the agent finds its way back to one.
    let threads = transcripts.into_iter().filter(|(name, bytes)| !name.starts_with('@') && *bytes > 0);
    let named = |(name, bytes): (String, u64)| TranscriptLength {
        thread: if name.is_empty() { "main".to_owned() } else { name },
        bytes,
    };
    let transcripts = threads.map(named).collect();
    VersionDetail { item: item(record), excluded, skipped, unstable, transcripts }
}

pub(crate) fn diff(diff: FoundDiff) -> VersionDiff {
    VersionDiff {
        from: diff.from,
        to: diff.to,
        files: diff.files.into_iter().map(file).collect(),
        truncated: diff.is_truncated,
        blocks: diff.blocks,
    }
}

/// The part of the changes that comes after the path `after`.
pub(crate) fn changes(found: FoundChanges, after: Option<&str>, limit: usize) -> VersionChanges {
    let place = |record: &VersionRecord| VersionPlace {
        session_id: record.session_id,
        version: record.version,
        cause: record.cause,
    };
    let is_new = |change: &FoundChange| after.is_none_or(|after| change.path.as_str() > after);
    let mut rest = found.changes.into_iter().filter(is_new).map(path_change);
    let changes: Vec<PathChange> = rest.by_ref().take(limit).collect();
    let last = changes.last().map(|change| change.path.clone());
    VersionChanges {
        from: place(&found.from),
        to: place(&found.to),
        next_cursor: last.filter(|_| rest.next().is_some()),
        changes,
    }
}

fn path_change(found: FoundChange) -> PathChange {
    PathChange {
        path: found.path,
        change: changed(found.before.as_ref(), found.after.as_ref()),
        before: found.before.map(entry),
        after: found.after.map(entry),
    }
}

fn changed(before: Option<&Found>, after: Option<&Found>) -> TreeChange {
    match (before, after) {
        (None, _) => TreeChange::Added,
        (_, None) => TreeChange::Removed,
        (Some(_), Some(_)) => TreeChange::Changed,
    }
}

pub(crate) fn listing(path: &str, entries: Vec<Found>) -> TreeListing {
    TreeListing { path: path.to_owned(), entries: entries.into_iter().map(entry).collect() }
}

fn file(file: FoundFile) -> FileDiff {
    let kind = file.after.as_ref().or(file.before.as_ref()).map_or("file", |entry| entry.kind);
    FileDiff {
        path: file.path,
        change: changed(file.before.as_ref(), file.after.as_ref()),
        kind: kind.to_owned(),
        binary: file.is_binary,
        before: file.before.map(look),
        after: file.after.map(look),
        diff: file.diff,
        truncated: file.is_truncated,
        added: file.counts.map(|counts| counts.added),
        removed: file.counts.map(|counts| counts.removed),
    }
}

fn look(entry: Found) -> FileLook {
    let of_target = || {
        let target = entry.target.clone().unwrap_or_default();
        BlobHash(blake3::hash(target.as_bytes()).to_hex().to_string())
    };
    FileLook {
        size_bytes: entry.size_bytes,
        mode: entry.mode,
        hash: entry.hash.clone().unwrap_or_else(of_target),
    }
}

fn entry(entry: Found) -> TreeEntry {
    TreeEntry {
        name: entry.name,
        path: entry.path,
        kind: entry.kind.to_owned(),
        size_bytes: entry.size_bytes,
        mode: entry.mode,
        modified_at: entry.modified_at,
        hash: entry.hash,
        target: entry.target,
    }
}

//! Room in SQLite's write-ahead log before it is needed.
//!
//! A commit that makes the file longer also has to make its length durable, which takes the disk another write: 0.7 ms where
//! one into what is there takes 0.5. SQLite writes from the beginning again after each checkpoint, so the file stops
//! growing by itself once it holds as many pages as are let gather; this lets the first commits have that too.
//! What SQLite finds behind its last frame, it takes for the rest of an earlier round, and so for nothing: zeros are no frame.

use std::{
    ffi::OsString,
    fs::OpenOptions,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// How many pages gather before they are moved into the database.
pub(super) const PAGES: u64 = 4000;

/// The header, and each page with its own. A transaction ends where it ends, so it may become longer than this.
const ROOM: u64 = 32 + PAGES * (4096 + 24);

/// Makes the log of this database as long as it gets. Nobody may write to it meanwhile.
pub(super) async fn make_room(database: PathBuf) -> io::Result<()> {
    tokio::task::spawn_blocking(move || lengthen(&log_of(&database), ROOM)).await.map_err(io::Error::other)?
}

fn log_of(database: &Path) -> PathBuf {
    let mut name = OsString::from(database);
    name.push("-wal");
    name.into()
}

fn lengthen(path: &Path, room: u64) -> io::Result<()> {
    // It is there: the connection that holds the lock has made it.
    let mut file = OpenOptions::new().append(true).open(path)?;
    let missing = room.saturating_sub(file.metadata()?.len());
    // Written, not reserved: what is only reserved has to be noted when it is first used.
    let zeros = vec![0; 1 << 20];
    let mut left = missing as usize;
    while left > 0 {
        let n_bytes = left.min(zeros.len());
        file.write_all(&zeros[..n_bytes])?;
        left -= n_bytes;
    }
    if missing > 0 { file.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use sqlx::{Connection as _, Row as _, SqliteConnection};

    use super::{ROOM, log_of};
    use crate::sql::{
        args::Arg,
        db::{Db, Safety},
        queries::Query,
    };

    /// As the machine finds it that lost its power.
    #[tokio::test]
    async fn what_was_committed_into_the_room_is_there_after_a_crash() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("a.db");
        let db = Db::sqlite(&path, Safety::PowerLoss).await.expect("it opens");
        assert_eq!(fs::metadata(log_of(&path)).expect("a log").len(), ROOM);
        let insert = "INSERT INTO logs (session_id) VALUES ($1)";
        for id in ["one", "two"] {
            let query = Query { sqlite: insert, postgres: insert };
            db.write(query, vec![Arg::Text(id.to_owned().into())]).await.expect("it is written");
        }
        assert_eq!(fs::metadata(log_of(&path)).expect("a log").len(), ROOM, "it was written into");
        let crashed = directory.path().join("b.db");
        fs::copy(&path, &crashed).expect("a copy");
        fs::copy(log_of(&path), log_of(&crashed)).expect("a copy");
        let url = format!("sqlite://{}", crashed.display());
        let mut found = SqliteConnection::connect(&url).await.expect("it opens");
        let query = "SELECT session_id FROM logs ORDER BY log";
        let rows = sqlx::query(query).fetch_all(&mut found).await.expect("rows");
        let rows: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        assert_eq!(rows, ["one", "two"]);
        let whole: String =
            sqlx::query("PRAGMA integrity_check").fetch_one(&mut found).await.expect("an answer").get(0);
        assert_eq!(whole, "ok");
    }
}

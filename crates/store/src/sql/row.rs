//! Values on their way out of a row.

use serde::de::DeserializeOwned;
use sqlx::{ColumnIndex, Row as _, postgres::PgRow, sqlite::SqliteRow};
use warren_domain::Timestamp;

/// One row of either database.
pub(crate) enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

/// A column by name or by place.
pub(crate) trait Column: ColumnIndex<SqliteRow> + ColumnIndex<PgRow> {}

impl<C: ColumnIndex<SqliteRow> + ColumnIndex<PgRow>> Column for C {}

macro_rules! getter {
    ($(#[$doc:meta])* $name:ident -> $kind:ty) => {
        $(#[$doc])*
        pub(crate) fn $name(&self, column: impl Column) -> Result<$kind, sqlx::Error> {
            match self {
                Row::Sqlite(row) => row.try_get(column),
                Row::Postgres(row) => row.try_get(column),
            }
        }
    };
}

impl Row {
    getter! { text -> String }
    getter! { maybe_text -> Option<String> }
    getter! { int -> i64 }
    getter! { maybe_int -> Option<i64> }
    getter! { real -> f64 }
    getter! { bytes -> Vec<u8> }

    /// A number that is never negative.
    pub(crate) fn number(&self, column: impl Column) -> Result<u64, sqlx::Error> {
        u64::try_from(self.int(column)?).map_err(undecodable)
    }

    pub(crate) fn maybe_number(&self, column: impl Column) -> Result<Option<u64>, sqlx::Error> {
        self.maybe_int(column)?.map(u64::try_from).transpose().map_err(undecodable)
    }

    pub(crate) fn time(&self, column: impl Column) -> Result<Timestamp, sqlx::Error> {
        self.int(column).map(Timestamp::from_millis)
    }

    pub(crate) fn maybe_time(&self, column: impl Column) -> Result<Option<Timestamp>, sqlx::Error> {
        Ok(self.maybe_int(column)?.map(Timestamp::from_millis))
    }

    /// An id, which is kept as text.
    pub(crate) fn id<T>(&self, column: impl Column) -> Result<T, sqlx::Error>
    where
        T: std::str::FromStr<Err: std::error::Error + Send + Sync + 'static>,
    {
        self.text(column)?.parse().map_err(undecodable)
    }

    pub(crate) fn maybe_id<T>(&self, column: impl Column) -> Result<Option<T>, sqlx::Error>
    where
        T: std::str::FromStr<Err: std::error::Error + Send + Sync + 'static>,
    {
        self.maybe_text(column)?.map(|text| text.parse()).transpose().map_err(undecodable)
    }

    /// A value that is kept as JSON.
    pub(crate) fn json<T: DeserializeOwned>(&self, column: impl Column) -> Result<T, sqlx::Error> {
        serde_json::from_str(&self.text(column)?).map_err(undecodable)
    }
}

/// What is kept is not what this program writes.
pub(crate) fn undecodable(source: impl std::error::Error + Send + Sync + 'static) -> sqlx::Error {
    sqlx::Error::Decode(Box::new(source))
}

/// A value as the JSON that is kept.
pub(crate) fn to_json<T: serde::Serialize + ?Sized>(value: &T) -> Result<String, sqlx::Error> {
    serde_json::to_string(value).map_err(|source| sqlx::Error::Encode(Box::new(source)))
}

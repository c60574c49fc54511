//! A place in a PostgreSQL that belongs to one test.

use std::net::SocketAddr;

use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection};
use warren_env::Env;

use crate::TestProxy;

/// A schema of its own on the PostgreSQL of the test run.
pub struct TestPostgres {
    server: String,
    schema: String,
}

impl TestPostgres {
    /// `None`, said aloud, where `WARREN_TEST_POSTGRES_URL` names none; under `WARREN_TEST_REQUIRE` that is a failure.
    #[expect(clippy::disallowed_methods, clippy::print_stdout, reason = "the test run says so by variables")]
    pub async fn new() -> Option<Self> {
        let Ok(server) = std::env::var("WARREN_TEST_POSTGRES_URL") else {
            let required = std::env::var_os("WARREN_TEST_REQUIRE").is_some();
            assert!(!required, "WARREN_TEST_REQUIRE is set, but WARREN_TEST_POSTGRES_URL is not");
            println!("skipped: WARREN_TEST_POSTGRES_URL names no PostgreSQL");
            return None;
        };
        let schema = format!("test_{}", Env::system().uuid().simple());
        let place = Self { server, schema };
        place.execute(format!("CREATE SCHEMA {}", place.schema)).await;
        Some(place)
    }

    /// Loads a dump of the schema `dumped`, as `pg_dump --inserts` writes it.
    pub async fn load(&self, dump: &str, dumped: &str) {
        // Lines for `psql`, and the schema, which is there.
        let is_sql = |line: &&str| !line.starts_with('\\') && !line.starts_with("CREATE SCHEMA ");
        let sql: Vec<&str> = dump.lines().filter(is_sql).collect();
        let sql = sql.join("\n").replace(&format!("{dumped}."), &format!("{}.", self.schema));
        self.execute(sql).await;
    }

    /// Where a server keeps its records there.
    #[must_use]
    pub fn url(&self) -> String {
        let separator = if self.server.contains('?') { '&' } else { '?' };
        format!("{}{separator}options[search_path]={}", self.server, self.schema)
    }

    /// The server's own address.
    pub async fn address(&self) -> SocketAddr {
        let authority = self.authority();
        let found = tokio::net::lookup_host(authority).await.expect("the host has an address").next();
        found.expect("the host has an address")
    }

    /// [`TestPostgres::url`], reached through a proxy.
    #[must_use]
    pub fn url_through(&self, proxy: &TestProxy) -> String {
        self.url().replacen(self.authority(), &proxy.address().to_string(), 1)
    }

    /// Host and port of the server's URL.
    fn authority(&self) -> &str {
        let (_, rest) = self.server.split_once('@').expect("the URL names a user");
        rest.split_once('/').expect("the URL names a database").0
    }

    /// Removes all of it.
    pub async fn remove(self) {
        self.execute(format!("DROP SCHEMA {} CASCADE", self.schema)).await;
    }

    async fn execute(&self, sql: String) {
        let mut connection = PgConnection::connect(&self.server).await.expect("PostgreSQL answers");
        connection.execute(AssertSqlSafe(sql)).await.expect("the schema is made or removed");
    }
}

//! The steps that bring a database's tables up to date. A step that is out is never changed; a new one follows it.
//!
//! Listed by hand: the macro that would find them builds a second SQLite and a second TLS stack for the compiler's own use.

use sqlx::{
    SqlSafeStr as _,
    migrate::{Migration, MigrationType, Migrator},
};

/// `(number, what it is about, statements)` of each file of a directory.
macro_rules! steps {
    ($directory:literal) => {
        [
            (1, "first", include_str!(concat!("../../migrations/", $directory, "/0001_first.sql"))),
            (2, "approvals", include_str!(concat!("../../migrations/", $directory, "/0002_approvals.sql"))),
            (3, "versions", include_str!(concat!("../../migrations/", $directory, "/0003_versions.sql"))),
            (4, "replays", include_str!(concat!("../../migrations/", $directory, "/0004_replays.sql"))),
            (
                5,
                "message counts",
                include_str!(concat!("../../migrations/", $directory, "/0005_message_counts.sql")),
            ),
            (6, "made by", include_str!(concat!("../../migrations/", $directory, "/0006_made_by.sql"))),
            (7, "not kept", include_str!(concat!("../../migrations/", $directory, "/0007_not_kept.sql"))),
            (
                8,
                "token parent",
                include_str!(concat!("../../migrations/", $directory, "/0008_token_parent.sql")),
            ),
            (9, "views", include_str!(concat!("../../migrations/", $directory, "/0009_views.sql"))),
            (
                10,
                "project profiles",
                include_str!(concat!("../../migrations/", $directory, "/0010_project_profiles.sql")),
            ),
            (11, "storage", include_str!(concat!("../../migrations/", $directory, "/0011_storage.sql"))),
            (12, "log bytes", include_str!(concat!("../../migrations/", $directory, "/0012_log_bytes.sql"))),
            (
                13,
                "estimated tokens",
                include_str!(concat!("../../migrations/", $directory, "/0013_estimated_tokens.sql")),
            ),
            (
                14,
                "erased runs",
                include_str!(concat!("../../migrations/", $directory, "/0014_erased_runs.sql")),
            ),
            (
                15,
                "model providers",
                include_str!(concat!("../../migrations/", $directory, "/0015_model_providers.sql")),
            ),
        ]
    };
}

pub(super) fn sqlite() -> Migrator {
    migrator(&steps!("sqlite"))
}

pub(super) fn postgres() -> Migrator {
    migrator(&steps!("postgres"))
}

fn migrator(steps: &[(i64, &'static str, &'static str)]) -> Migrator {
    let step = |&(number, about, sql): &(i64, &'static str, &'static str)| {
        Migration::new(number, about.into(), MigrationType::Simple, sql.into_sql_str(), false)
    };
    Migrator::with_migrations(steps.iter().map(step).collect())
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use sqlx::migrate::Migrator;

    use super::{postgres, sqlite};

    fn names(of: &Migrator) -> Vec<String> {
        let name = |number: i64, about: &str| format!("{number:04}_{}.sql", about.replace(' ', "_"));
        of.iter().map(|step| name(step.version, &step.description)).collect()
    }

    #[test]
    fn every_file_is_a_step_of_both_databases() {
        let migrations = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
        for (directory, steps) in [("sqlite", sqlite()), ("postgres", postgres())] {
            let files = fs::read_dir(migrations.join(directory)).expect("is there");
            let name = |file: fs::DirEntry| file.file_name().to_string_lossy().into_owned();
            let mut files: Vec<String> = files.map(|file| name(file.expect("is read"))).collect();
            files.sort();
            assert_eq!(names(&steps), files, "{directory}");
        }
    }
}

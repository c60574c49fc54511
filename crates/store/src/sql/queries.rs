//! Every statement, by name. The text is in `queries/`; what the two databases say differently is in a folder each.

/// One statement in both dialects.
#[derive(Clone, Copy)]
pub(crate) struct Query {
    pub(crate) sqlite: &'static str,
    pub(crate) postgres: &'static str,
}

/// Above the line: the same text for both. Below it: one in `sqlite/`, one in `postgres/`.
macro_rules! queries {
    ($($name:ident = $file:literal;)* --- $($own:ident = $own_file:literal;)*) => {
        $(pub(crate) const $name: Query = Query {
            sqlite: include_str!(concat!("../../queries/", $file, ".sql")),
            postgres: include_str!(concat!("../../queries/", $file, ".sql")),
        };)*
        $(pub(crate) const $own: Query = Query {
            sqlite: include_str!(concat!("../../queries/sqlite/", $own_file, ".sql")),
            postgres: include_str!(concat!("../../queries/postgres/", $own_file, ".sql")),
        };)*
    };
}

/// Begins a batch's transaction, locks its logs and reads where they stand. SQLite takes several statements in one go,
/// which saves a lone commit much of its time: that is spent on the way to SQLite's thread and back.
pub(crate) const BATCH_BEGIN: Query = Query {
    sqlite: concat!("BEGIN IMMEDIATE;\n", include_str!("../../queries/sqlite/log_lock.sql")),
    postgres: include_str!("../../queries/postgres/log_lock.sql"),
};

/// Writes a batch's entries, moves its logs and, on SQLite, ends its transaction.
pub(crate) const BATCH_COMMIT: Query = Query {
    sqlite: concat!(
        include_str!("../../queries/sqlite/entry_insert.sql"),
        ";\n",
        include_str!("../../queries/sqlite/log_move.sql"),
        ";\nCOMMIT"
    ),
    postgres: include_str!("../../queries/postgres/batch_write.sql"),
};

/// A batch of plain commits, whole.
pub(crate) const PLAIN_WRITE: Query = Query {
    sqlite: concat!(
        "BEGIN IMMEDIATE;\n",
        include_str!("../../queries/sqlite/plain_insert.sql"),
        ";\n",
        include_str!("../../queries/sqlite/plain_move.sql"),
        ";\nCOMMIT"
    ),
    postgres: include_str!("../../queries/postgres/plain_write.sql"),
};

/// A plain commit of one entry, whole: what it costs is what an agent's line waits for. On SQLite it is one statement,
/// because its thread tells of each, and to be told takes as long as the statement.
pub(crate) const LINE_WRITE: Query = Query {
    sqlite: include_str!("../../queries/sqlite/line_write.sql"),
    postgres: include_str!("../../queries/postgres/line_write.sql"),
};

/// What a connection to SQLite needs for [`LINE_WRITE`].
pub(crate) const LINE_SETUP: &str = include_str!("../../queries/sqlite/line_setup.sql");

/// Moves a view on, whole.
pub(crate) const VIEW_ADVANCE: Query = Query {
    sqlite: concat!("BEGIN IMMEDIATE;\n", include_str!("../../queries/sqlite/view_advance.sql"), ";\nCOMMIT"),
    postgres: include_str!("../../queries/postgres/view_advance.sql"),
};

/// Drops a view, whole.
pub(crate) const VIEW_DROP: Query = Query {
    sqlite: concat!("BEGIN IMMEDIATE;\n", include_str!("../../queries/sqlite/view_drop.sql"), ";\nCOMMIT"),
    postgres: include_str!("../../queries/postgres/view_drop.sql"),
};

queries! {
    APPROVAL_GET = "approval_get";
    APPROVAL_LIST = "approval_list";
    APPROVAL_PUT = "approval_put";
    CHECKPOINT_GET = "checkpoint_get";
    COUNT_ADD = "count_add";
    COUNT_FORGET = "count_forget";
    COUNT_GET = "count_get";
    COUNT_REMOVE = "count_remove";
    ENTRY_COUNT = "entry_count";
    ENTRY_DROP = "entry_drop";
    ENTRY_ERASE = "entry_erase";
    ENTRY_READ = "entry_read";
    ENTRY_REPLACE = "entry_replace";
    FILE_LIST = "file_list";
    KEY_FORGET = "key_forget";
    KEY_GET = "key_get";
    KEY_PUT = "key_put";
    LEASE_HOLDER = "lease_holder";
    LEASE_MAKE = "lease_make";
    LEASE_RELEASE = "lease_release";
    LOG_CREATE = "log_create";
    LOG_ERASE = "log_erase";
    LOG_HEAD = "log_head";
    LOG_SHRINK = "log_shrink";
    PROFILE_GET = "profile_get";
    PROFILE_LIST = "profile_list";
    PROFILE_PUT = "profile_put";
    PROFILE_REMOVE = "profile_remove";
    PROJECT_GET = "project_get";
    PROJECT_LIST = "project_list";
    PROJECT_NAMED = "project_named";
    PROJECT_PROFILE_GET = "project_profile_get";
    PROJECT_PROFILE_PUT = "project_profile_put";
    PROJECT_PROFILE_REMOVE = "project_profile_remove";
    PROJECT_PUT = "project_put";
    PROVIDER_LIST = "provider_list";
    PROVIDER_PUT = "provider_put";
    PROVIDER_REMOVE = "provider_remove";
    REPLAY_GET = "replay_get";
    REPLAY_LIST = "replay_list";
    REPLAY_PUT = "replay_put";
    RUN_GET = "run_get";
    RUN_KEEP = "run_keep";
    RUN_LIST = "run_list";
    RUN_PUT = "run_put";
    RUN_UNFINISHED = "run_unfinished";
    RUN_USAGE = "run_usage";
    SESSION_CREATE = "session_create";
    SESSION_ERASE = "session_erase";
    SESSION_GET = "session_get";
    SESSION_STORED = "session_stored";
    SESSION_UPDATE = "session_update";
    STORAGE_CLAIM = "storage_claim";
    STORAGE_GET = "storage_get";
    TOKEN_GET = "token_get";
    TOKEN_LIST = "token_list";
    TOKEN_PUT = "token_put";
    TOKEN_REMOVE = "token_remove";
    TRANSCRIPT_APPEND = "transcript_append";
    TRANSCRIPT_CUT = "transcript_cut";
    TRANSCRIPT_GET = "transcript_get";
    TRANSCRIPT_PART = "transcript_part";
    TRANSCRIPT_LAST = "transcript_last";
    TRANSCRIPT_LIST = "transcript_list";
    VERSION_EXPIRE = "version_expire";
    VERSION_GET = "version_get";
    VERSION_LABEL = "version_label";
    VERSION_LIST = "version_list";
    VERSION_PUT = "version_put";
    VERSION_ROOTS = "version_roots";
    VIEW_AFTER = "view_after";
    VIEW_BEFORE = "view_before";
    WORKSPACE_GET = "workspace_get";
    WORKSPACE_LIST = "workspace_list";
    WORKSPACE_PUT = "workspace_put";
    WORKSPACE_REMOVE = "workspace_remove";
    ---
    FILE_PUT = "file_put";
    FILE_REMOVE = "file_remove";
    LEASE_ACQUIRE = "lease_acquire";
    LEASE_CURRENT = "lease_current";
    LEASE_RENEW = "lease_renew";
    SESSION_LIST = "session_list";
    TOKEN_PRESENT = "token_present";
    TRANSCRIPT_TRIM = "transcript_trim";
    VIEW_ITEMS = "view_items";
}

//! Every key there is. The documentation, the names of the variables and the hints on unknown keys follow from it.

/// One option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// Its path in `warren.toml`.
    pub name: &'static str,
    /// What may be written there.
    pub kind: Kind,
    /// What it is for.
    pub doc: &'static str,
    /// The version that brought it.
    pub since: &'static str,
}

/// What may be written for a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Text,
    /// A path; a relative one is meant relative to the data directory.
    Path,
    /// `true` or `false`.
    Boolean,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// Bytes: a whole number, or a text such as `2GiB`.
    Size,
    /// Texts; in a variable, with commas between them.
    List,
    /// A table; cannot be set by a variable.
    Table,
}

impl Key {
    /// The environment variable that sets it, or `None` for a table.
    #[must_use]
    pub fn variable(&self) -> Option<String> {
        (self.kind != Kind::Table).then(|| format!("WARREN_{}", self.name.replace('.', "_").to_uppercase()))
    }
}

impl Kind {
    /// What may be written, for people.
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            Kind::Text => "string",
            Kind::Path => "path",
            Kind::Boolean => "boolean",
            Kind::Integer => "whole number",
            Kind::Number => "number",
            Kind::Size => "size",
            Kind::List => "list of strings",
            Kind::Table => "table",
        }
    }
}

const fn key(name: &'static str, kind: Kind, doc: &'static str) -> Key {
    Key { name, kind, doc, since: "v0.1" }
}

/// Every option, in the order of the documentation.
pub const KEYS: &[Key] = &[
    key(
        "listen",
        Kind::Text,
        "Address and port that the server listens on. Port 0 picks a free port. The server speaks plain HTTP: put a TLS \
         proxy in front of it to reach it from other machines.",
    ),
    key(
        "server.allowed_hosts",
        Kind::List,
        "Host names, besides loopback names and the listening address, that requests may use. Requests for other hosts \
         are refused, so that a web page cannot control a server on localhost. Pages on such a host may call the server \
         from the default ports of HTTP and HTTPS; with `server.secure_cookies`, of HTTPS only. A name with a port, such \
         as `warren.example.com:8443`, allows that port instead.",
    ),
    key(
        "server.allowed_origins",
        Kind::List,
        "Other origins whose pages may call the server from the browser (CORS), such as `https://app.example.com` or \
         `http://localhost:5173`. Scheme, host and port must match; there are no wildcards. Such a page can do everything \
         its token allows, over REST, server-sent events and Socket.IO.",
    ),
    key("server.body_limit", Kind::Size, "Maximum size of a request body. Larger ones are refused with 413."),
    key(
        "server.secure_cookies",
        Kind::Boolean,
        "Whether browsers send the sign-in cookie over TLS only. Set it when a TLS proxy is in front of the server.",
    ),
    key("sandbox.backend", Kind::Text, "The sandbox backend. `local` is bubblewrap on this machine."),
    key(
        "sandbox.files",
        Kind::Text,
        "Where the files of sandboxes are. `host`: in the data directory, where they stay while the sandbox is paused. \
         `guest`: inside each sandbox only (guest-local), as on another machine. Then a sandbox starts with the files of \
         the latest version and stops only after its files are saved in a version, and sessions that share a workspace \
         use it one at a time.",
    ),
    key(
        "sandbox.required",
        Kind::List,
        "Required layers of isolation; without them no sandbox starts: `namespaces`, `network`, `seccomp`, `landlock`, \
         `memoryLimit`, `cpuLimit`, `pidsLimit`, `ownUid`, `diskQuota`. `warren doctor` shows which ones this machine \
         has.",
    ),
    key(
        "sandbox.uid_range",
        Kind::Text,
        "Range of UIDs and GIDs for workspaces, such as `200000-265535`. Used only if the server runs as root. By default \
         the server claims the next 65536 IDs from 200000 on that no other server on this host has claimed and that are \
         not in `/etc/subuid`, `/etc/subgid`, `/etc/passwd` or `/etc/group`. Existing workspaces keep their IDs. Servers \
         on several hosts that share a database need one range that is free on all of them.",
    ),
    key(
        "sandbox.idle_timeout_seconds",
        Kind::Integer,
        "Idle timeout: a sandbox without work for this long is stopped. The next message starts a new one.",
    ),
    key("sandbox.health_interval_seconds", Kind::Integer, "Interval between health checks of a sandbox."),
    key("sandbox.max_restarts_per_hour", Kind::Integer, "Maximum restarts of an unhealthy sandbox per hour."),
    key(
        "sandbox.max_concurrent",
        Kind::Integer,
        "Maximum number of running sandboxes. Further runs wait in order, and their sessions show the position in the \
         queue. Idle sandboxes are stopped early to make room. By default one per 512 MiB of the machine's memory, but at \
         most 32 per CPU, and at least 4.",
    ),
    key(
        "sandbox.workspace_isolation",
        Kind::Boolean,
        "Whether every session must have its own workspace. If set, sessions that ask to share one are refused.",
    ),
    key(
        "sandbox.resource_limits.memory",
        Kind::Size,
        "Memory limit for all programs of a sandbox together, such as `2GiB` or `2Gi`. Above it the kernel kills one of \
         them.",
    ),
    key(
        "sandbox.resource_limits.cpu",
        Kind::Number,
        "CPU limit of a sandbox, such as `1`, `0.5` or `\"500m\"`. Above it programs are throttled.",
    ),
    key(
        "sandbox.resource_limits.pids",
        Kind::Integer,
        "Maximum number of processes and threads in a sandbox. At the limit no more can be started.",
    ),
    key(
        "sandbox.resource_limits.disk",
        Kind::Size,
        "Disk limit for a session's directories. Above it the run fails with `DISK_LIMIT`.",
    ),
    key(
        "sandbox.resource_limits.inodes",
        Kind::Integer,
        "Maximum number of files and directories of a session. Above it the run fails with `DISK_LIMIT`.",
    ),
    key(
        "runs.time_budget_seconds",
        Kind::Integer,
        "Time budget of a run. A run that takes longer ends with `TIMEOUT`. A message can set its own budget.",
    ),
    key(
        "runs.soft_budget_percent",
        Kind::Integer,
        "Percentage of the time budget after which the agent is asked to finish.",
    ),
    key("runs.approval_seconds", Kind::Integer, "Timeout of an approval. After that it counts as denied."),
    key(
        "runs.silence_seconds",
        Kind::Integer,
        "Seconds without a response from a starting agent before a notice appears in the conversation. The run continues.",
    ),
    key(
        "plans.unpaid.messages",
        Kind::Integer,
        "Messages that the owner of a token with the plan `unpaid` may send in total. Further ones are refused with \
         `MESSAGE_LIMIT`.",
    ),
    key(
        "plans.paid.messages_per_week",
        Kind::Integer,
        "Messages per week that the owner of a token with the plan `paid` may send. The week starts on Monday at 00:00 \
         UTC.",
    ),
    key("plans.admin", Kind::Text, "The plan of administrators' tokens: `unpaid`, `paid` or `unlimited`."),
    key("plans.project", Kind::Text, "The plan of project tokens that were created without one."),
    key(
        "storage.database_url",
        Kind::Text,
        "`postgres://…` to store everything in PostgreSQL, or `sqlite:PATH`. By default SQLite in the data directory.",
    ),
    key(
        "storage.blobs_url",
        Kind::Text,
        "Where blobs and the files of versions are stored: `s3://BUCKET/PREFIX?region=REGION&endpoint=URL` (only the \
         bucket is required) or `file:PATH`. The keys for a bucket are `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY` in \
         the server's environment. By default in the data directory. Changing it does not move existing data.",
    ),
    key(
        "storage.max_log_bytes_per_run",
        Kind::Size,
        "Maximum size that one run may add to its session's log. Above it the run fails with `STORAGE_LIMIT`.",
    ),
    key(
        "storage.max_log_bytes_per_session",
        Kind::Size,
        "Maximum size of a session's log. Above it the run fails with `STORAGE_LIMIT`, and the session accepts no more \
         messages.",
    ),
    key(
        "storage.max_log_bytes_per_project",
        Kind::Size,
        "Maximum size of the logs of all sessions of a project. Above it runs fail with `STORAGE_LIMIT`, and no new run \
         starts until sessions are erased.",
    ),
    key(
        "retention.versions",
        Kind::Integer,
        "Number of recent versions kept per session. Labelled versions are kept forever.",
    ),
    key(
        "retention.daily_days",
        Kind::Integer,
        "Number of days for which the last version of each day is kept too.",
    ),
    key(
        "retention.deltas_days",
        Kind::Integer,
        "Days until the log is compacted: it keeps the complete text of each block, but not the individual deltas.",
    ),
    key(
        "retention.recordings_days",
        Kind::Integer,
        "Days for which recordings of model calls are kept. After that a run cannot be replayed.",
    ),
    key(
        "retention.grace_seconds",
        Kind::Integer,
        "Delay before garbage collection deletes files that no version needs.",
    ),
    key(
        "retention.interval_seconds",
        Kind::Integer,
        "Interval between cleanups: retention and garbage collection.",
    ),
    key(
        "versions.exclude",
        Kind::List,
        "Names of directories that are left out of versions, at any depth. Replaces the default list: caches and \
         dependencies that can be downloaded again, such as `node_modules`, `.next` and `.venv`. A directory with a \
         `CACHEDIR.TAG` is always left out; a `.gitignore` is never used.",
    ),
    key(
        "storage.outputs_template_path",
        Kind::Path,
        "A directory whose files are copied into `outputs/` of every new session. By default the built-in template; with an \
         empty directory a session starts with nothing.",
    ),
    key(
        "previews.base_url",
        Kind::Text,
        "Base URL of previews, such as `https://preview.example.com`: each port of each session is a host below it. By \
         default `http://localhost` with the listening port. Use a different domain than the server's.",
    ),
    key(
        "previews.allow_origins",
        Kind::List,
        "Other origins that pages in previews may reach from the browser, such as `https://api.example.com` or \
         `wss://*.example.com`. If empty, a page written by an agent reaches only its own host and cannot open windows, \
         so it cannot send data elsewhere. Otherwise it can open windows, and those can go anywhere.",
    ),
    key(
        "knowledge.base_path",
        Kind::Path,
        "Directory with the files that sessions can read in `/knowledge`, as `<tenant>/<project id>`. The tenant of a \
         server with only one is `default`. By default `knowledge` in the data directory.",
    ),
    key(
        "knowledge.max_bytes",
        Kind::Size,
        "Maximum size of a project's knowledge after an upload. Files that the operator puts there by hand count, but are \
         not refused.",
    ),
    key(
        "documents.libreoffice",
        Kind::Text,
        "The LibreOffice that converts documents to PDF, each in a sandbox of its own: `auto` takes the installed one, `off` \
         none, and a path is that of its `soffice` or of the directory that holds `program/soffice`.",
    ),
    key("documents.timeout_seconds", Kind::Integer, "How long the conversion of one document may take."),
    key(
        "egress.allow",
        Kind::List,
        "Hosts that every sandbox may reach through the egress proxy, in addition to its profile's: `example.com`, \
         `*.example.com` or a public address. Add `:port` for ports other than 80 and 443. Nothing else leaves a sandbox.",
    ),
    key(
        "egress.allow_private",
        Kind::List,
        "Exact targets, as `host:port`, that sandboxes may reach although their addresses are private, loopback or \
         otherwise not public. The server itself is never reachable.",
    ),
    key(
        "agents.directory",
        Kind::Path,
        "Where agents' programs are installed. By default `agents` in the data directory; several servers can share one.",
    ),
    key(
        "agents.registry",
        Kind::Text,
        "The npm registry to install agents from. If it is not set, `NPM_CONFIG_REGISTRY` of the environment is used.",
    ),
    key(
        "agents.allow_http_registry",
        Kind::Boolean,
        "Whether a registry on another machine may use plain HTTP. Packages are still verified by the hashes that ship \
         with Warren, but anyone on the network can see which ones are installed.",
    ),
    key(
        "agents.cache_directory",
        Kind::Path,
        "A directory that caches downloaded packages, so that several data directories can share one download. Packages \
         are verified again whenever they are used.",
    ),
    key(
        "models.anthropic.base_url",
        Kind::Text,
        "Base URL of the Anthropic API. If it is not set, `ANTHROPIC_BASE_URL` of the server's environment is used. A \
         base URL that is set here is used even without a key.",
    ),
    key(
        "models.anthropic.api_key_env",
        Kind::Text,
        "The environment variable that holds the API key. The key itself never goes into this file.",
    ),
    key(
        "models.anthropic.api_key_file",
        Kind::Path,
        "A file that holds the API key. It takes precedence over the variable.",
    ),
    key(
        "models.anthropic.allow",
        Kind::List,
        "Models that programs in sandboxes may use, by name; `*` matches any characters, as in `claude-haiku-*`. The list \
         is complete: other models are refused, even if a session or a profile names them. By default the models that \
         Warren knows, those with a prefix in `models.prices`, and the models that the session and its profile name. \
         Models that search the web or act on their own are never allowed by default or by a `*`: the pattern must \
         contain the word itself, as `gpt-4o-search-*` does.",
    ),
    key(
        "models.gemini.base_url",
        Kind::Text,
        "Base URL of the Gemini API, without its version. If it is not set, `GOOGLE_GEMINI_BASE_URL` of the server's \
         environment is used. A base URL that is set here is used even without a key.",
    ),
    key(
        "models.gemini.api_key_env",
        Kind::Text,
        "The environment variable that holds the API key. If this is not set, `GOOGLE_API_KEY` is tried too.",
    ),
    key(
        "models.gemini.api_key_file",
        Kind::Path,
        "A file that holds the API key. It takes precedence over the variable.",
    ),
    key(
        "models.gemini.allow",
        Kind::List,
        "Models that may be used in Gemini's format; see `models.anthropic.allow`.",
    ),
    key(
        "models.openai.base_url",
        Kind::Text,
        "Base URL of OpenAI's API, usually with its version: for chat completions, and for responses unless \
         `models.openai_responses` is set. If no base URL is set, `OPENAI_BASE_URL` of the server's environment is used. \
         A base URL that is set here is used even without a key.",
    ),
    key(
        "models.openai.api_key_env",
        Kind::Text,
        "The environment variable that holds the API key. The key itself never goes into this file.",
    ),
    key(
        "models.openai.api_key_file",
        Kind::Path,
        "A file that holds the API key. It takes precedence over the variable.",
    ),
    key(
        "models.openai.allow",
        Kind::List,
        "Models that may be used in OpenAI's formats; see `models.anthropic.allow`.",
    ),
    key(
        "models.openai_responses.base_url",
        Kind::Text,
        "Base URL of OpenAI's Responses API, if it differs from `models.openai`. A base URL that is set here is used even \
         without a key.",
    ),
    key(
        "models.openai_responses.api_key_env",
        Kind::Text,
        "The environment variable that holds the API key. By default that of `models.openai`, or `OPENAI_API_KEY` if this \
         API has its own base URL.",
    ),
    key(
        "models.openai_responses.api_key_file",
        Kind::Path,
        "A file that holds the API key. It takes precedence over the variable.",
    ),
    key(
        "models.openai_responses.allow",
        Kind::List,
        "Models that may be used in OpenAI's Responses API, if they differ from `models.openai.allow`.",
    ),
    key(
        "models.prices",
        Kind::Table,
        "US dollars per million tokens, by prefix of the model's name. They take precedence over the built-in list \
         prices, which the page Prices and `warren doctor` show with their dates. `input` and `output` are required; \
         `cache_read`, `cache_write` and `cache_write_long` are derived from `input` if absent.",
    ),
    key(
        "models.max_recorded_bytes_per_run",
        Kind::Size,
        "Maximum size of the recordings of one run's model calls. Further calls work, but are not recorded, and the run \
         cannot be replayed.",
    ),
    key(
        "models.max_recorded_bytes_per_session",
        Kind::Size,
        "Maximum size of the stored recordings of all runs of a session (see `retention.recordings_days`).",
    ),
    key(
        "models.key_file",
        Kind::Path,
        "The file with the key that encrypts the provider keys set in the page or with `warren keys`. It is created, \
         readable by its owner only, when the first key is set. Servers that share a database need the same file. See \
         [models.md](models.md).",
    ),
    key(
        "models.allow_http_base_url",
        Kind::Boolean,
        "Whether a base URL set in the page or with `warren keys` may use plain HTTP to another machine. On this machine \
         it always may. The key and all model traffic would cross the network unencrypted.",
    ),
    key(
        "models.provider_tools",
        Kind::Boolean,
        "Whether all sessions may use tools that a model's provider runs: web search, web fetch, code execution. \
         Otherwise only sessions whose profile has `providerTools` may. Such tools cost extra, and search queries leave \
         the server.",
    ),
    key(
        "models.demo.delay_milliseconds",
        Kind::Integer,
        "Delay of the demo model before each piece of an answer.",
    ),
];

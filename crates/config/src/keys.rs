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
            Kind::Text => "text",
            Kind::Path => "path",
            Kind::Boolean => "truth value",
            Kind::Integer => "whole number",
            Kind::Number => "number",
            Kind::Size => "size",
            Kind::List => "list of texts",
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
        "Address and port the server listens on; port 0 takes a free one. The server speaks plain HTTP: put a proxy with \
         TLS before it if it is to be reached from other machines.",
    ),
    key(
        "server.allowed_hosts",
        Kind::List,
        "Host names, besides loopback names and the listening address, that requests may be addressed to. Others are \
         refused, so that a web page cannot drive a server on localhost. Pages under such a name may call the server from \
         the usual ports of HTTP and HTTPS, with `server.secure_cookies` of HTTPS alone; a name with a port, as \
         `warren.example.com:8443`, means that port instead.",
    ),
    key(
        "server.allowed_origins",
        Kind::List,
        "Other origins whose pages may call the server from the browser (CORS), as `https://app.example.com` or \
         `http://localhost:5173`: scheme, host and port are compared, and there is no wildcard. Such a page can do whatever its \
         token allows, over REST, server-sent events and Socket.IO.",
    ),
    key("server.body_limit", Kind::Size, "The largest body of a request. A larger one is refused with 413."),
    key(
        "server.secure_cookies",
        Kind::Boolean,
        "Whether browsers send the sign-in cookie over TLS only. Set it when a proxy with TLS stands before the server.",
    ),
    key("sandbox.backend", Kind::Text, "What makes sandboxes. `local` is bubblewrap on this machine."),
    key(
        "sandbox.files",
        Kind::Text,
        "Where the files of sandboxes are. `host`: in the data directory, where they stay while a session sleeps. `guest`: in each \
         sandbox alone, as on another machine. Then a sandbox begins with the files of the latest version and ends only when what \
         it holds is in one, and sessions that share a workspace work in it one after the other.",
    ),
    key(
        "sandbox.required",
        Kind::List,
        "Layers of isolation without which no sandbox starts: `namespaces`, `network`, `seccomp`, `landlock`, \
         `memoryLimit`, `cpuLimit`, `pidsLimit`, `ownUid`, `diskQuota`. `warren doctor` shows which this machine has.",
    ),
    key(
        "sandbox.uid_range",
        Kind::Text,
        "The UIDs and GIDs of workspaces, as `200000-265535`; counts only if the server runs as root. By default the server claims \
         the next 65536 from 200000 on that no other server of this host has claimed and that are neither in `/etc/subuid`, \
         `/etc/subgid`, `/etc/passwd` nor `/etc/group`. Workspaces that exist keep theirs. Servers on several hosts that \
         share a database need one range that is free on all of them.",
    ),
    key(
        "sandbox.idle_timeout_seconds",
        Kind::Integer,
        "A sandbox without work for this long is ended; the next message makes a new one.",
    ),
    key("sandbox.health_interval_seconds", Kind::Integer, "How often a sandbox is asked whether it is well."),
    key(
        "sandbox.max_restarts_per_hour",
        Kind::Integer,
        "An unhealthy sandbox is started again at most this often.",
    ),
    key(
        "sandbox.max_concurrent",
        Kind::Integer,
        "How many sandboxes may run at once. A run beyond it waits, in order; its session says at which place. Idle sandboxes end \
         early to make room. By default one for each 512 MiB of the machine's memory, but at most 32 for each CPU, and at least 4.",
    ),
    key(
        "sandbox.workspace_isolation",
        Kind::Boolean,
        "Whether every session has a workspace of its own. A session that asks to share one is then refused.",
    ),
    key(
        "sandbox.resource_limits.memory",
        Kind::Size,
        "Memory of all programs of a sandbox together, as `2GiB` or `2Gi`. Beyond it the kernel kills one of them.",
    ),
    key(
        "sandbox.resource_limits.cpu",
        Kind::Number,
        "CPUs a sandbox may keep busy, as `1`, `0.5` or `\"500m\"`. Beyond it programs wait.",
    ),
    key(
        "sandbox.resource_limits.pids",
        Kind::Integer,
        "Processes and threads of a sandbox. Beyond it none can be started.",
    ),
    key(
        "sandbox.resource_limits.disk",
        Kind::Size,
        "What a session's directories may hold. Beyond it the run fails with `DISK_LIMIT`.",
    ),
    key(
        "sandbox.resource_limits.inodes",
        Kind::Integer,
        "How many files and directories a session may hold. Beyond it the run fails with `DISK_LIMIT`.",
    ),
    key(
        "runs.time_budget_seconds",
        Kind::Integer,
        "A run that takes longer is ended with `TIMEOUT`. A message may ask for another budget.",
    ),
    key(
        "runs.soft_budget_percent",
        Kind::Integer,
        "After this part of the time budget the agent is asked to come to an end.",
    ),
    key(
        "runs.approval_seconds",
        Kind::Integer,
        "How long an agent that asks a person waits for the answer. After that the answer is no.",
    ),
    key(
        "runs.silence_seconds",
        Kind::Integer,
        "An agent that has not answered for so long after its start is noted in the conversation. The run goes on.",
    ),
    key(
        "plans.unpaid.messages",
        Kind::Integer,
        "Messages that the owner of a token with the plan `unpaid` may send in all. One more is refused with `MESSAGE_LIMIT`.",
    ),
    key(
        "plans.paid.messages_per_week",
        Kind::Integer,
        "Messages that the owner of a token with the plan `paid` may send in a week, which begins on Monday at 00:00 UTC.",
    ),
    key("plans.admin", Kind::Text, "The plan of administrators' tokens: `unpaid`, `paid` or `unlimited`."),
    key("plans.project", Kind::Text, "The plan of projects' tokens that were made without one."),
    key(
        "storage.database_url",
        Kind::Text,
        "`postgres://…` to keep everything in PostgreSQL, or `sqlite:PATH`. By default SQLite in the data directory.",
    ),
    key(
        "storage.blobs_url",
        Kind::Text,
        "Where the bytes of blobs and of versions' files are kept: `s3://BUCKET/PREFIX?region=REGION&endpoint=URL`, of \
         which all but the bucket may be left out, or `file:PATH`. The keys to a bucket are `AWS_ACCESS_KEY_ID` and \
         `AWS_SECRET_ACCESS_KEY` of the server's environment. By default in the data directory. What was kept elsewhere \
         is not moved.",
    ),
    key(
        "storage.max_log_bytes_per_run",
        Kind::Size,
        "How much one run may add to its session's log. Beyond it the run fails with `STORAGE_LIMIT`.",
    ),
    key(
        "storage.max_log_bytes_per_session",
        Kind::Size,
        "How much the log of a session may take. Beyond it the run fails with `STORAGE_LIMIT`, and the session takes no more \
         messages.",
    ),
    key(
        "storage.max_log_bytes_per_project",
        Kind::Size,
        "How much the logs of all sessions of a project may take. Beyond it runs fail with `STORAGE_LIMIT`, and no other \
         begins until sessions are erased.",
    ),
    key(
        "retention.versions",
        Kind::Integer,
        "How many versions of each session are kept, the newest. A version with a label is kept for ever.",
    ),
    key("retention.daily_days", Kind::Integer, "For so many days the last version of each day is kept too."),
    key(
        "retention.deltas_days",
        Kind::Integer,
        "After so many days the log keeps what was said, but not how it came word by word.",
    ),
    key(
        "retention.recordings_days",
        Kind::Integer,
        "For so many days what was said to models and what they answered is kept. After that a run cannot be replayed.",
    ),
    key(
        "retention.grace_seconds",
        Kind::Integer,
        "What no version needs any more is removed from the disk so long after.",
    ),
    key("retention.interval_seconds", Kind::Integer, "How often it is looked after what may go."),
    key(
        "versions.exclude",
        Kind::List,
        "Names of directories that are left out of versions, wherever they are; the whole list. By default caches and \
         dependencies that can be had again, such as `node_modules`, `.next` and `.venv`. A directory with a \
         `CACHEDIR.TAG` is left out too; a `.gitignore` never counts.",
    ),
    key(
        "storage.outputs_template_path",
        Kind::Path,
        "A directory whose files are in the `outputs/` of every new session. If it is not set, these are the files of the \
         template that comes with the program; with an empty directory a session begins with nothing.",
    ),
    key(
        "previews.base_url",
        Kind::Text,
        "Where browsers see what sessions serve, as `https://preview.example.com`: each port of each session is a host \
         below it. By default `http://localhost` with the listening port. Use a domain that is not the server's own.",
    ),
    key(
        "previews.allow_origins",
        Kind::List,
        "Other origins that pages in previews may reach from the browser, as `https://api.example.com` or \
         `wss://*.example.com`. Without any, a page that an agent wrote reaches its own host and opens no windows, so it \
         cannot carry data elsewhere; with some, it may open windows, and those may lead anywhere.",
    ),
    key(
        "knowledge.base_path",
        Kind::Path,
        "A directory with what sessions can read as `/knowledge`: `<tenant>/<project id>` in it. The tenant of a server \
         with only one is `default`. By default `knowledge` in the data directory.",
    ),
    key(
        "knowledge.max_bytes",
        Kind::Size,
        "How much the knowledge of one project may be after an upload. What the operator puts there by hand counts, but is \
         not refused.",
    ),
    key(
        "egress.allow",
        Kind::List,
        "Hosts that every sandbox may reach through the egress proxy, besides what its profile allows: `example.com`, \
         `*.example.com` or a public address, with `:port` behind it unless ports 80 and 443 are meant. Nothing else leaves a \
         sandbox.",
    ),
    key(
        "egress.allow_private",
        Kind::List,
        "Exact places, as `host:port`, that sandboxes may reach although their addresses are private, loopback or otherwise \
         not public. The server itself is never reached.",
    ),
    key(
        "agents.directory",
        Kind::Path,
        "Where agents' programs are installed. By default `agents` in the data directory; several servers may share one.",
    ),
    key(
        "agents.registry",
        Kind::Text,
        "The npm registry that agents' programs come from. If it is not set, `NPM_CONFIG_REGISTRY` of the environment is taken.",
    ),
    key(
        "agents.allow_http_registry",
        Kind::Boolean,
        "Whether agents' programs may come from a registry by plain HTTP that is not on this machine. Packages are verified by \
         the hashes that Warren was released with all the same; who listens on the network sees which are installed.",
    ),
    key(
        "agents.cache_directory",
        Kind::Path,
        "A directory in which downloaded packages are kept, so that they are downloaded once for several data directories. \
         Each is verified again when it is used.",
    ),
    key(
        "models.anthropic.base_url",
        Kind::Text,
        "Where the Anthropic API begins. If it is not set, `ANTHROPIC_BASE_URL` of the server's environment is taken. Set \
         here, it is used without a key if there is none.",
    ),
    key(
        "models.anthropic.api_key_env",
        Kind::Text,
        "The environment variable that holds the API key. The key itself never stands in this file.",
    ),
    key(
        "models.anthropic.api_key_file",
        Kind::Path,
        "A file that holds the API key; counts before the variable.",
    ),
    key(
        "models.anthropic.allow",
        Kind::List,
        "Models that programs in sandboxes may ask for, by name; `*` stands for any characters, as in `claude-haiku-*`. The \
         whole list: a model that is not on it is refused, whatever a session or a profile asks for. By default the models \
         that Warren knows, those whose beginnings `models.prices` names, and the models that the session and its profile \
         name. A model that searches the web or acts by itself is never among them, and no `*` stands for it: its pattern \
         must have the word itself, as `gpt-4o-search-*` has.",
    ),
    key(
        "models.gemini.base_url",
        Kind::Text,
        "Where the Gemini API begins, without its version. If it is not set, `GOOGLE_GEMINI_BASE_URL` of the server's \
         environment is taken. Set here, it is used without a key if there is none.",
    ),
    key(
        "models.gemini.api_key_env",
        Kind::Text,
        "The environment variable that holds the API key. If it is not set here, `GOOGLE_API_KEY` is looked at too.",
    ),
    key(
        "models.gemini.api_key_file",
        Kind::Path,
        "A file that holds the API key; counts before the variable.",
    ),
    key(
        "models.gemini.allow",
        Kind::List,
        "Models that may be asked for in Gemini's format; see `models.anthropic.allow`.",
    ),
    key(
        "models.openai.base_url",
        Kind::Text,
        "Where OpenAI's API begins, by custom with its version; for chat completions, and for responses unless \
         `models.openai_responses` says otherwise. If it is not set, `OPENAI_BASE_URL` of the server's environment is taken. \
         Set here, it is used without a key if there is none.",
    ),
    key(
        "models.openai.api_key_env",
        Kind::Text,
        "The environment variable that holds the API key. The key itself never stands in this file.",
    ),
    key(
        "models.openai.api_key_file",
        Kind::Path,
        "A file that holds the API key; counts before the variable.",
    ),
    key(
        "models.openai.allow",
        Kind::List,
        "Models that may be asked for in OpenAI's formats; see `models.anthropic.allow`.",
    ),
    key(
        "models.openai_responses.base_url",
        Kind::Text,
        "Where OpenAI's responses are made, if elsewhere than `models.openai` says. Set here, it is used without a key if \
         there is none.",
    ),
    key(
        "models.openai_responses.api_key_env",
        Kind::Text,
        "The environment variable that holds the API key. By default all is as `models.openai` says, or, at an address of its \
         own, the key is that of `OPENAI_API_KEY`.",
    ),
    key(
        "models.openai_responses.api_key_file",
        Kind::Path,
        "A file that holds the API key; counts before the variable.",
    ),
    key(
        "models.openai_responses.allow",
        Kind::List,
        "Models that may be asked for in OpenAI's responses, if others than `models.openai.allow` has.",
    ),
    key(
        "models.prices",
        Kind::Table,
        "US dollars for a million tokens, by the beginning of a model's name; counts before the built-in list prices, \
         which are on the page Prices and in `warren doctor`, each with its day. `input` and `output` are needed; `cache_read`, `cache_write` and `cache_write_long` follow from `input` if absent.",
    ),
    key(
        "models.max_recorded_bytes_per_run",
        Kind::Size,
        "How much the recordings of one run's model calls may take. Calls beyond it go on, but are not recorded, and the run \
         cannot be replayed.",
    ),
    key(
        "models.max_recorded_bytes_per_session",
        Kind::Size,
        "How much the recordings of all runs of a session may take, as far as they are kept (`retention.recordings_days`).",
    ),
    key(
        "models.key_file",
        Kind::Path,
        "The file with the key that encrypts what administrators set for providers in the page or with `warren keys`. It is \
         made, readable by its owner only, when a key is set first. Servers that share a database need the same file. See \
         [models.md](models.md).",
    ),
    key(
        "models.allow_http_base_url",
        Kind::Boolean,
        "Whether a base URL that is set in the page or with `warren keys` may use plain HTTP to another machine. On this \
         machine it always may. The key and all that is said to models would go over the network unencrypted.",
    ),
    key(
        "models.provider_tools",
        Kind::Boolean,
        "Whether all sessions may use tools that a model's provider runs: web search, web fetch, code execution. Otherwise only \
         those may whose profile has `providerTools`. Such tools cost extra, and what is searched for leaves the server.",
    ),
    key(
        "models.demo.delay_milliseconds",
        Kind::Integer,
        "How long the demo model waits before each piece of an answer.",
    ),
];

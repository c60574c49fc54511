// Every call by its name. No state but the stores of sessions that are in use.
import type {
  Artifact, DiffPart, FileChanges, FileEntry, FileListing, Replay, Version, VersionChanges, VersionDiff, VersionPage,
} from "../wire/contract";
import type {
  AgentItem, AgentProfile, ApprovalAnswer, ApprovalItem, ApprovalPage, Block, Content, LogLine, MessageAccepted, MessagePage, MessageSend,
  ModelList, ProviderItem, ProviderPut, ProviderTested, RunItem, RunPage, RuntimeSessionData, SandboxItem, SessionCreate, SessionListItem, SessionPage, SessionPatch, TokenCreate,
  TokenCreated, TokenItem, UsageReport, WhoAmI,
} from "../wire/types";
import { ListStore } from "./list";
import { received } from "./problem";
import { SignedOut } from "./signedout";
import { sseTransport, type SseOptions } from "./sse";
import { SessionStore, type StoreOptions } from "./store";
import type { Call, Transport } from "./transport";

export type ClientOptions = SseOptions & StoreOptions & { transport?: Transport };

export type SessionQuery = { q?: string; type?: string; state?: string; limit?: number; cursor?: string };

export type MessageQuery = {
  conversationId?: string;
  before?: string | undefined;
  after?: string | undefined;
  order?: "oldest" | "newest";
  limit?: number;
  only?: string;
};

const id = encodeURIComponent;

export class WarrenClient {
  readonly transport: Transport;
  /** Whether the server does not know this client any more, and why. */
  readonly signedOut = new SignedOut();
  readonly #stores = new Map<string, SessionStore>();
  readonly #lists = new Map<string, ListStore>();

  constructor(private readonly options: ClientOptions = {}) {
    this.transport = this.signedOut.over(options.transport ?? sseTransport(options));
  }

  /** The live store of a session; the same one for all who ask. */
  store(sessionId: string): SessionStore {
    const store = this.#stores.get(sessionId) ?? new SessionStore(this, sessionId, this.options);
    this.#stores.set(sessionId, store);
    return store;
  }

  /** The live list of sessions that match; the same one for all who ask the same. */
  list(query: SessionQuery = {}): ListStore {
    const key = JSON.stringify([query.q ?? "", query.type ?? "", query.state ?? ""]);
    const list = this.#lists.get(key) ?? new ListStore(this, query, this.options);
    this.#lists.set(key, list);
    return list;
  }

  async json<T>(path: string, call?: Call): Promise<T> {
    const response = await this.transport.fetch(path, call);
    return (response.status === 204 ? undefined : await received(response.json(), call?.signal)) as T;
  }

  async nothing(path: string, call?: Call): Promise<void> {
    await this.transport.fetch(path, call);
  }

  #session<T>(session: string, rest = "", call?: Call): Promise<T> {
    return this.json<T>(`/api/sessions/${id(session)}${rest}`, call);
  }

  // Who may come in.
  who = (signal?: AbortSignal) => this.json<WhoAmI>("/api/auth", { signal });
  signIn = (token: string) => this.json<WhoAmI>("/api/auth/sign-in", { method: "POST", body: { token } });
  signOut = () => this.nothing("/api/auth/sign-out", { method: "POST" });
  tokens = () => this.json<{ tokens: TokenItem[] }>("/api/tokens");
  createToken = (token: TokenCreate) => this.json<TokenCreated>("/api/tokens", { method: "POST", body: token });
  revokeToken = (token: string) => this.nothing(`/api/tokens/${id(token)}`, { method: "DELETE" });

  // The machine.
  agents = () => this.json<{ agents: AgentItem[] }>("/api/agents");
  installAgent = (agent: string) => this.json<AgentItem>(`/api/agents/${id(agent)}`, { method: "POST" });
  removeAgent = (agent: string) => this.nothing(`/api/agents/${id(agent)}`, { method: "DELETE" });
  /** Models to choose from, with price and context size. */
  models = () => this.json<ModelList>("/api/models");
  providers = () => this.json<{ providers: ProviderItem[] }>("/api/providers");
  putProvider = (provider: string, body: ProviderPut) =>
    this.json<ProviderItem>(`/api/providers/${id(provider)}`, { method: "PUT", body });
  removeProvider = (provider: string) => this.nothing(`/api/providers/${id(provider)}`, { method: "DELETE" });
  testProvider = (provider: string) => this.json<ProviderTested>(`/api/providers/${id(provider)}/test`, { method: "POST" });
  profiles = () => this.json<{ profiles: AgentProfile[] }>("/api/profiles");
  putProfile = (name: string, profile: AgentProfile) =>
    this.json<AgentProfile>(`/api/profiles/${id(name)}`, { method: "PUT", body: profile });
  /** `project`: whose it is, if not the whole partition's. */
  deleteProfile = (name: string, project?: string | null) =>
    this.nothing(`/api/profiles/${id(name)}${project ? `?projectId=${id(project)}` : ""}`, { method: "DELETE" });
  doctor = () => this.json<Record<string, unknown>>("/api/doctor");
  sandboxes = () => this.json<{ sandboxes: SandboxItem[] }>("/api/sandboxes");
  usage = (query: { from?: string; to?: string; groupBy?: string }) => this.json<UsageReport>("/api/usage", { query });

  // Sessions.
  sessions = (query: SessionQuery = {}) => this.json<SessionPage>("/api/sessions", { query });
  createSession = (body: SessionCreate) => this.json<SessionListItem>("/api/sessions", { method: "POST", body });
  /** Whole, or with `limit` the newest blocks alone. */
  session = (session: string, query: { limit?: number } = {}) => this.#session<RuntimeSessionData>(session, "", { query });
  /** Part of a conversation, oldest first; see the route for what each field asks for. */
  messages = (session: string, query: MessageQuery = {}) => this.#session<MessagePage>(session, "/messages", { query });
  /** One block with its long texts whole: the log keeps their beginning. */
  block = (session: string, block: string, conversationId?: string) =>
    this.#session<Block>(session, `/messages/${id(block)}`, { query: { conversationId } });
  patchSession = (session: string, body: SessionPatch) =>
    this.#session<SessionListItem>(session, "", { method: "PATCH", body });
  eraseSession = (session: string) => this.nothing(`/api/sessions/${id(session)}`, { method: "DELETE" });
  endSession = (session: string, reason?: string) =>
    this.#session<SessionListItem>(session, "/end", { method: "POST", body: { reason } });
  sandbox = (session: string) => this.#session<SandboxItem>(session, "/sandbox");
  startSandbox = (session: string) => this.#session<SandboxItem>(session, "/sandbox/start", { method: "POST" });
  stopSandbox = (session: string) => this.#session<SandboxItem>(session, "/sandbox/stop", { method: "POST" });

  // Messages, runs, approvals.
  send = (session: string, body: MessageSend) =>
    this.#session<MessageAccepted>(session, "/messages", { method: "POST", body });
  interrupt = (session: string) => this.#session<{ runId: string | null }>(session, "/interrupt", { method: "POST" });
  runs = (session: string, query: { limit?: number; cursor?: string; sum?: "earlier" } = { limit: 200 }) =>
    this.#session<RunPage>(session, "/runs", { query });
  rewordRun = (session: string, run: string, content: Content) =>
    this.#session<RunItem>(session, `/runs/${id(run)}`, { method: "PATCH", body: { content } });
  /** Its new place among those that wait, from 1. */
  moveRun = (session: string, run: string, position: number) =>
    this.#session<RunItem>(session, `/runs/${id(run)}`, { method: "PATCH", body: { position } });
  dropRun = (session: string, run: string) =>
    this.nothing(`/api/sessions/${id(session)}/runs/${id(run)}`, { method: "DELETE" });
  approvals = (query: { sessionId?: string; status?: string; limit?: number; cursor?: string } = {}) => this.json<ApprovalPage>("/api/approvals", { query });
  answer = (approval: string, body: ApprovalAnswer) =>
    this.json<ApprovalItem>(`/api/approvals/${id(approval)}`, { method: "POST", body });
  withdrawRule = (approval: string) => this.json<ApprovalItem>(`/api/approvals/${id(approval)}/rule`, { method: "DELETE" });
  events = (session: string, query: { after?: number; limit?: number }) =>
    this.#session<{ events: LogLine[]; lastSeq: number; head: number }>(session, "/events", { query });

  // Versions.
  versions = (session: string, query: { limit?: number; cursor?: string } = {}) =>
    this.#session<VersionPage>(session, "/versions", { query });
  version = (session: string, version: number) => this.#session<Version>(session, `/versions/${version}`);
  diff = (session: string, version: number, against?: number, part: DiffPart = {}) =>
    this.#session<VersionDiff>(session, `/versions/${version}/diff`, { query: { against, ...part } });
  /** Paths that differ from the imported files, or from another version. */
  changes = (session: string, version: number, query: { against?: number; limit?: number; cursor?: string } = {}) =>
    this.#session<VersionChanges>(session, `/versions/${version}/changes`, { query });
  versionFiles = (session: string, version: number, path: string) =>
    this.#session<FileListing>(session, `/versions/${version}/files`, { query: { path } });
  label = (session: string, version: number, label: string | null) =>
    this.#session<Version>(session, `/versions/${version}/label`, { method: "PUT", body: { label } });
  fork = (session: string, body: { version?: number; name?: string; type?: string; profile?: string }) =>
    this.#session<SessionListItem & { loss?: string[] }>(session, "/fork", { method: "POST", body });
  restore = (session: string, version: number) =>
    this.#session<Version>(session, "/restore", { method: "POST", body: { version } });
  snapshot = (session: string) => this.#session<Version>(session, "/snapshot", { method: "POST" });
  replayRun = (session: string, run: string) =>
    this.#session<Replay>(session, `/runs/${id(run)}/replay`, { method: "POST", body: {} });
  replays = (session: string) => this.#session<{ replays: Replay[] }>(session, "/replays");
  replay = (session: string, replay: string) => this.#session<Replay>(session, `/replays/${id(replay)}`);

  // Artifacts and files.
  artifacts = (session: string) => this.#session<{ artifacts: Artifact[] }>(session, "/artifacts");
  preview = (session: string, artifact: string) =>
    this.#session<{ url: string }>(session, `/artifacts/${id(artifact)}/preview`, { method: "POST" });
  artifactContent = (session: string, artifact: string, signal?: AbortSignal) =>
    this.transport.fetch(`/api/sessions/${id(session)}/artifacts/${id(artifact)}/content`, { signal });
  files = (session: string, path: string) => this.#session<FileListing>(session, "/fs", { query: { path } });
  /** Files of the workspace that are not as in the latest version. */
  unsavedFiles = (session: string, query: { limit?: number; cursor?: string } = { limit: 5_000 }) =>
    this.#session<FileChanges>(session, "/fs/changes", { query });
  readFile = (session: string, path: string, signal?: AbortSignal) =>
    this.transport.fetch(`/api/sessions/${id(session)}/fs/read`, { query: { path }, signal });
  /** A document as PDF, converted on the server. */
  convertFile = (session: string, path: string, version?: number, signal?: AbortSignal) =>
    this.transport.fetch(`/api/sessions/${id(session)}/fs/convert`, { query: { path, to: "pdf", ...(version === undefined ? {} : { version }) }, signal });
  readVersionFile = (session: string, version: number, path: string, signal?: AbortSignal) =>
    this.transport.fetch(`/api/sessions/${id(session)}/versions/${version}/file`, { query: { path }, signal });
  writeFile = (session: string, path: string, body: Blob, etag?: string) =>
    this.transport.fetch(`/api/sessions/${id(session)}/fs`, {
      method: "PUT", query: { path }, body, headers: etag ? { "If-Match": etag } : {},
    });
  /** Puts the files of a tar, tar.gz or zip into the workspace, as a version of their own. */
  importArchive = (session: string, archive: Blob) =>
    this.#session<Version>(session, "/fs/import", { method: "POST", body: archive });
  /** Makes a file where none is; one that is there is refused with 412. */
  createFile = (session: string, path: string, body: Blob) =>
    this.transport.fetch(`/api/sessions/${id(session)}/fs`, { method: "PUT", query: { path }, body, headers: { "If-None-Match": "*" } });
  /** Removes a file, or a folder with all in it; with `etag` only the file that has it. */
  removeFile = (session: string, path: string, etag?: string) =>
    this.nothing(`/api/sessions/${id(session)}/fs`, { method: "DELETE", query: { path }, headers: etag ? { "If-Match": etag } : {} });
  /** Moves or renames a file, or a folder with all in it. Nothing is replaced. */
  moveFile = (session: string, from: string, to: string, etag?: string) =>
    this.#session<FileEntry>(session, "/fs/move", { method: "POST", body: { from, to }, headers: etag ? { "If-Match": etag } : {} });
  makeDirectory = (session: string, path: string) => this.#session<FileEntry>(session, "/fs/mkdir", { method: "POST", query: { path } });
  upload = (session: string, files: readonly File[], path?: string) => {
    const body = new FormData();
    for (const file of files) body.append("file", file, file.name);
    return this.#session<{ files: { path: string; sizeBytes: number }[] }>(session, "/fs/upload", {
      method: "POST", query: { path }, body,
    });
  };
}

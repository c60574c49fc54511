// Names for the generated shapes, so that nobody writes `components["schemas"]`.
import type { components } from "./generated";
import type { Artifact } from "./contract";

type Schemas = components["schemas"];

export type SessionId = string;
export type ConversationId = string;
export type BlockId = string;
export type RunId = string;

export type Block = Schemas["Block"];
export type BlockOf<T extends Block["type"]> = Extract<Block, { type: T }>;
export type Content = Schemas["Content"];
export type ContentPart = Schemas["ContentPart"];
export type Usage = Schemas["Usage"];
export type SessionListItem = Schemas["SessionListItem"];
export type SessionPage = Schemas["SessionPage"];
export type SessionCreate = Schemas["SessionCreate"];
export type SessionPatch = Schemas["SessionPatch"];
export type SessionOptions = Schemas["SessionOptions"];
export type SessionRuntimeState = Schemas["SessionRuntimeState"];
export type RuntimeSessionData = Schemas["RuntimeSessionData"];
export type SessionsChanged = Schemas["SessionsChanged"];
export type WorkspaceFile = Schemas["WorkspaceFile"];
export type MessageSend = Schemas["MessageSend"];
export type MessagePage = Schemas["MessagePage"];
export type MessageAccepted = Schemas["MessageAccepted"];
export type RunItem = Schemas["RunItem"];
export type RunPage = Schemas["RunPage"];
export type ApprovalItem = Schemas["ApprovalItem"];
export type ApprovalPage = Schemas["ApprovalPage"];
export type ApprovalAnswer = Schemas["ApprovalAnswer"];
export type ApprovalRequest = Schemas["ApprovalRequest"];
export type ApprovalResolution = Schemas["ApprovalResolution"];
export type ApprovalRule = Schemas["ApprovalRule"];
export type SubagentStarted = Schemas["SubagentStarted"];
export type AgentItem = Schemas["AgentItem"];
export type AgentProfile = Schemas["AgentProfile"];
export type ModelItem = Schemas["ModelItem"];
export type ModelList = Schemas["ModelList"];
export type ProviderItem = Schemas["ProviderItem"];
export type ProviderPut = Schemas["ProviderPut"];
export type ProviderTested = Schemas["ProviderTested"];
export type TokenItem = Schemas["TokenItem"];
export type TokenCreate = Schemas["TokenCreate"];
export type TokenCreated = Schemas["TokenCreated"];
export type SandboxItem = Schemas["SandboxItem"];
export type UsageReport = Schemas["UsageReport"];
export type WhoAmI = Schemas["WhoAmI"];
export type Problem = Schemas["Problem"];
export type WhenBusy = Schemas["WhenBusy"];

type Known = Exclude<Schemas["EventBody"], { type: "log_compacted" }>;
type Envelope = Omit<Extract<Schemas["Event"], { type: "text_delta" }>, keyof Extract<Known, { type: "text_delta" }>>;

/** One numbered entry of a session's log. */
export type Event = Envelope & Known;
export type EventOf<T extends Event["type"]> = Extract<Event, { type: T }>;

/** Stands where entries were dropped after their blocks were complete. */
export type LogCompacted = { type: "log_compacted"; from: number; to: number };

/** What a reader of a log meets. */
export type LogLine = Event | LogCompacted;

export type { Artifact };

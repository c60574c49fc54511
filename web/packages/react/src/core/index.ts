export type * from "../wire/contract";
export type * from "../wire/types";
export { WarrenClient, type ClientOptions, type MessageQuery, type SessionQuery } from "./client";
export { backoff, Connection, type Clock, type ConnectionState } from "./connection";
export type { EarlierStatus } from "./earlier";
export { ListStore, type ListSnapshot } from "./list";
export type { PendingMessage } from "./pending";
export { ConnectionError, isFinal, isPassing, received, WarrenError } from "./problem";
export { soon } from "./reach";
export { reduce, type Topic } from "./reduce";
export { ResourceStore, type Resource } from "./resource";
export type { SignedOut } from "./signedout";
export { socketTransport, type SocketLike } from "./socketio";
export { sseTransport, type SseOptions } from "./sse";
export {
  emptyState, MAIN, stateOf, threadOf,
  type Approval, type FileNews, type Retrying, type Run, type RunStatus, type SessionState, type Spending, type SubagentInfo,
  type Thread, type VersionNews,
} from "./state";
export { SessionStore, type Item, type LoadStatus, type StoreTopic } from "./store";
export type { Call, Feed, Transport } from "./transport";

// Shapes of versions, artifacts and files, until docs/openapi.json has them under these names.
import type { components } from "./generated";

type Usage = components["schemas"]["Usage"];
type Block = components["schemas"]["Block"];

export type FileCounts = { added: number; changed: number; removed: number };

export type VersionCause = "run" | "interrupt" | "recovered" | "idle" | "edited" | "template" | "manual" | "restore" | "import" | "fork";

export type Version = {
  version: number;
  base: number | null;
  cause: VersionCause;
  runId?: string;
  seq: number;
  createdAt: string;
  sizeBytes: number;
  files: FileCounts;
  blocks: number;
  usage: Usage;
  costUSD: number;
  label?: string;
  shared?: boolean;
  /** The version that a restore went back to. */
  restored?: number;
  excluded?: string[];
};

export type VersionPage = { versions: Version[]; nextCursor?: string; head: { version: number; dirty: boolean } };

export type FileSide = { sizeBytes: number; hash?: string; mode?: number };

export type FileDiff = {
  path: string;
  change: "added" | "removed" | "changed";
  kind: string;
  binary: boolean;
  before?: FileSide;
  after?: FileSide;
  diff?: string;
  truncated?: boolean;
  /** Lines that are new, and that are gone, where they were counted. */
  added?: number;
  removed?: number;
};

export type VersionChanges = components["schemas"]["VersionChanges"];
export type VersionDiff = { from: number; to: number; files: FileDiff[]; truncated?: boolean; blocks: Block[] };

/** What of a difference is asked for: all files with their lines, unless it says otherwise. */
export type DiffPart = { lines?: "all" | "counts" | "none"; path?: string; after?: string; limit?: number };

export type Artifact = components["schemas"]["Artifact"];
export type ArtifactKind = Artifact["kind"];

export type FileEntry = {
  name: string;
  path: string;
  kind: string;
  sizeBytes: number;
  mode: number;
  modifiedAt: string;
  hash?: string;
  etag?: string;
  target?: string;
  status?: string;
};

export type FileListing = { path: string; source?: "live" | "version"; entries: FileEntry[] };

export type FileChangeItem = { path: string; change: "created" | "modified" | "deleted"; movedFrom?: string | null };

/** Files of the workspace that are not as in the latest version. */
export type FileChanges = { version: number; changes: FileChangeItem[]; nextCursor?: string };

export type Divergence = { kind: string; conversationId?: string; index?: number; message: string; diff?: string };

export type Replay = {
  replayId: string;
  sessionId: string;
  runId?: string;
  status: "running" | "done" | "failed";
  diverged?: boolean;
  firstDivergence?: Divergence;
  differences: { conversationId?: string; toolUseId?: string; message: string; diff?: string }[];
  calls?: { compared: number; equal: number };
  events: { compared: number; equal: number };
  files: { compared: number; equal: number; different: string[] };
  notes?: string[];
  error?: string | { message: string };
  startedAt: string;
  endedAt?: string;
};

import { useArtifacts, useLive, type SessionStore } from "@warren/react";
import { useMemo } from "react";
import { forgottenSpans, isForgotten } from "./memory";
import { madeIn } from "./things";
import { MarkBuilder, type MarkValue, type PageRow, type VersionFact } from "./marks";
import { RowBuilder, timeOf } from "./rows";

/** The rows of the main conversation, live, and their keys. */
export function useConversation(store: SessionStore, versions: readonly VersionFact[]) {
  const id = store.sessionId;
  const builders = useMemo(() => ({ rows: new RowBuilder<MarkValue>(), marks: new MarkBuilder(), keys: [] as readonly string[], of: [] as readonly PageRow[] }), [id]);
  const blocks = useLive(id, ["log", "status", "pending", "order:main"], (live) => live.state.main.values());
  const items = useLive(id, ["order:main", "pending"], (live) => live.items("main"));
  const pending = useLive(id, ["pending"], (live) => live.pending);
  // These are read only to be told: the marks are built from the whole state.
  useLive(id, ["runs"], (live) => live.state.runs.values());
  useLive(id, ["approvals"], (live) => live.state.approvals.values());
  useLive(id, ["session"], (live) => live.state.runtime);
  useLive(id, ["retrying"], (live) => live.state.retrying);
  const renamed = useMemo(() => new Map(items.filter((item) => item.key !== item.id).map((item) => [item.id, item.key])), [items]);
  const { artifacts } = useArtifacts(id);
  const made = useMemo(() => madeIn(artifacts, versions), [artifacts, versions]);
  const forgotten = useMemo(() => forgottenSpans(versions).filter((span) => blocks.some((block) => block.type !== "system" && isForgotten([span], timeOf(block)))), [versions, blocks.length]);
  const marks = builders.marks.build(store.state, versions, pending, made, forgotten);
  const rows = builders.rows.build(blocks, marks);
  if (rows !== builders.of) {
    const keys = rows.map((row) => renamed.get(row.key) ?? row.key);
    if (keys.length !== builders.keys.length || keys.some((key, at) => key !== builders.keys[at])) builders.keys = keys;
    builders.of = rows;
  }
  return { rows, keys: builders.keys, forgotten };
}

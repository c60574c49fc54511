import { received, useResource, useWarrenClient, type WarrenClient } from "@warren/react";
import { useMemo } from "react";
import { compare } from "~/lib/diff";
import { DiffView } from "~/ui/DiffView";
import { Empty, Skeleton, Unread } from "~/ui/Notice";
import { asText } from "../viewers/useContent";
import type { Unsaved } from "./unsaved";

type Props = { sessionId: string; path: string; version: number; /** What became of it since that version; nothing, if it is as it was. */ unsaved: Unsaved | undefined; stamp: unknown };

/** A file now beside what it was in the latest version. Neither is asked for where it is not. */
export function Since({ sessionId, path, version, unsaved, stamp }: Props) {
  const client = useWarrenClient();
  const isGone = unsaved?.change === "deleted";
  const then = unsaved?.change === "created" ? (unsaved.movedFrom ?? null) : path;
  const now = useResource(`now ${sessionId} ${path} ${isGone}`, () => (isGone ? Promise.resolve("") : textOf(client.readFile(sessionId, path))), stamp);
  const old = useResource(`then ${sessionId} ${version} ${then ?? ""}`, () => (then === null ? Promise.resolve("") : textOf(client.readVersionFile(sessionId, version, then))));
  const diff = useMemo(() => (old.data !== undefined && now.data !== undefined ? compare(old.data, now.data) : null), [old.data, now.data]);
  const unread = [old, now].find((one) => one.state === "failed" && one.data === undefined);
  if (unread) return <Unread title="The file could not be compared" error={unread.error} onAgain={unread.refresh} />;
  if (!diff) return <Skeleton rows={8} height={20} />;
  if (diff.hunks.length === 0) return <Empty icon="diff">No text changes since v{version}.</Empty>;
  return <div className="cmp-diff"><DiffView path={path} diff={diff} label={`${path} since version ${version}`} /></div>;
}

const textOf = async (read: ReturnType<WarrenClient["readFile"]>): Promise<string> => asText(new Uint8Array(await received((await read).arrayBuffer()))) ?? "";

// What differs between two versions: which files at once, how many lines of each soon after, and a file's lines when it is
// shown. Versions never change, so what was read is good for as long as the page is open.
import { useResource, useWarrenClient, type FileDiff, type WarrenClient } from "@warren/react";
import { useEffect, useState } from "react";

export type Pair = { sessionId: string; from: number; to: number };

type Counts = ReadonlyMap<string, FileDiff>;

const NONE: Counts = new Map();
/** Files whose lines are kept. */
const MOST_KEPT = 60;

const keyOf = ({ sessionId, from, to }: Pair): string => `${sessionId} ${from} ${to}`;

/** Which files differ, and what was said. */
export function useChangedFiles({ sessionId, from, to }: Pair) {
  const client = useWarrenClient();
  return useResource(`changed ${keyOf({ sessionId, from, to })}`, () => client.diff(sessionId, to, from, { lines: "none" }));
}

/** How many lines differ, by path; part after part, because the server reads every file for it. */
export function useLineCounts(pair: Pair, isWanted: boolean): { counts: Counts; isDone: boolean } {
  const client = useWarrenClient();
  const key = keyOf(pair);
  const [held, setHeld] = useState<{ key: string; counts: Counts; isDone: boolean }>({ key, counts: NONE, isDone: false });
  useEffect(() => {
    // An effect: it goes on by itself, and ends with the comparison.
    if (!isWanted) return;
    const { sessionId, from, to } = pair;
    let isOver = false;
    const read = async () => {
      let after: string | undefined;
      const counts = new Map<string, FileDiff>();
      do {
        const part = await client.diff(sessionId, to, from, { lines: "counts", ...(after === undefined ? {} : { after }) });
        if (isOver) return;
        for (const file of part.files) counts.set(file.path, file);
        after = part.truncated ? part.files.at(-1)?.path : undefined;
        setHeld({ key, counts: new Map(counts), isDone: after === undefined });
      } while (after !== undefined);
    };
    // Without counts all else can be read; the list says that they are missing.
    read().catch(() => isOver || setHeld((old) => ({ ...old, isDone: true })));
    return () => {
      isOver = true;
    };
  }, [client, key, isWanted]);
  return held.key === key ? held : { counts: NONE, isDone: false };
}

const kept = new Map<string, Promise<FileDiff>>();

/** One file with its lines. */
export function useFileDiff(pair: Pair, path: string) {
  const client = useWarrenClient();
  return useResource(`filediff ${keyOf(pair)} ${path}`, () => fileDiff(client, pair, path));
}

/** Reads a file's lines, so that they are there when it is shown. */
export function readAhead(client: WarrenClient, pair: Pair, path: string | undefined) {
  // Whoever shows it reads it again, and says why it failed.
  if (path !== undefined) fileDiff(client, pair, path).catch(() => {});
}

function fileDiff(client: WarrenClient, pair: Pair, path: string): Promise<FileDiff> {
  const key = `${keyOf(pair)} ${path}`;
  const known = kept.get(key);
  if (known) return known;
  const read = client.diff(pair.sessionId, pair.to, pair.from, { path }).then(({ files }) => {
    const [file] = files;
    if (!file) throw new Error("The server returned no diff for this file.");
    return file;
  });
  kept.set(key, read);
  read.catch(() => kept.delete(key));
  const oldest = kept.keys().next();
  if (kept.size > MOST_KEPT && !oldest.done) kept.delete(oldest.value);
  return read;
}

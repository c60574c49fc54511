import { received, useWarrenClient } from "@warren/react";
import { memo, useMemo, useState } from "react";
import type { Diff } from "~/lib/diff";
import { count, plural } from "~/lib/format";
import { languageOf, useHighlighter } from "~/lib/highlight";
import { paintedLines } from "~/lib/paintedLines";
import { Line } from "~/ui/DiffView";
import { Icon } from "~/ui/Icon";
import { filled, firstLines, linesOf, segmentsOf, type Segment } from "./gaps";
import type { Pair } from "./useDiff";

/** So many lines are drawn at a time. */
const MANY = 1_000;

type Props = { pair: Pair; path: string; diff: Diff; /** A file that is there now, whose unchanged lines can be read. */ isThere: boolean };

/** A diff with the numbers of the file's own lines. What did not change is left out, and shown when asked for. */
export const UnifiedDiff = memo(function UnifiedDiff({ pair, path, diff, isThere }: Props) {
  const client = useWarrenClient();
  const [most, setMost] = useState(MANY);
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const [text, setText] = useState<readonly string[] | null>(null);
  const [failed, setFailed] = useState<string | null>(null);
  const whole = useMemo(() => {
    const gaps = segmentsOf(diff, text?.length ?? null);
    return filled(isThere ? gaps : gaps.filter((segment) => segment.kind === "lines"), open, text);
  }, [diff, text, open, isThere]);
  const shown = useMemo(() => firstLines(whole, most), [whole, most]);
  const paint = useHighlighter(languageOf(path));
  const colours = useMemo(() => paintedLines(shown.filter((segment) => segment.kind === "lines"), paint), [shown, paint]);
  const nLines = (segments: readonly Segment[]) => segments.reduce((sum, segment) => sum + (segment.kind === "lines" ? segment.lines.length : 0), 0);
  const left = nLines(whole) - nLines(shown);

  const expand = async (key: number) => {
    setFailed(null);
    try {
      if (text === null) setText(linesOf(await received((await client.readVersionFile(pair.sessionId, pair.to, path)).text())));
      setOpen((old) => new Set(old).add(key));
    } catch (error) {
      setFailed(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <div className="diff" role="region" aria-label={`Changes to ${path}`} tabIndex={0}>
      {failed && <p className="dlg-bad m-3" role="alert">The unchanged lines could not be read: {failed}</p>}
      {shown.map((segment) =>
        segment.kind === "gap" ? (
          <button key={`gap ${segment.key}`} type="button" className="gap" onClick={() => void expand(segment.key)}>
            <Icon name="more" size="xs" />
            {segment.count === null ? "Show the rest of the file" : plural(segment.count, "unchanged line")}
          </button>
        ) : (
          <div key={segment.key}>{segment.lines.map((line, row) => <Line key={row} line={line} pieces={colours.get(line) ?? []} />)}</div>
        ),
      )}
      {left > 0 && <button type="button" className="more" onClick={() => setMost(most + MANY * 4)}>Show {count(Math.min(left, MANY * 4))} more of {plural(left, "line")}</button>}
    </div>
  );
});

import { memo, useMemo, useState } from "react";
import { pieces } from "~/lib/ansi";
import { count } from "~/lib/format";
import { Pieces } from "~/ui/Pieces";

/** Longer outputs show their end first. */
const MANY = 200;
const SHOWN = 40;
/** Longer lines are cut. */
const LONG = 2000;
/** While it runs: this many lines in a box of fixed height. */
const LIVE = 3;

type Props = { text: string; live?: boolean; label?: string };

/** What a program printed: colours mapped, control characters shown, too much of it cut until asked for. */
export const Output = memo(function Output({ text, live = false, label = "Output" }: Props) {
  const [all, setAll] = useState(false);
  const lines = useMemo(() => text.replace(/\n$/, "").split("\n"), [text]);
  const n = live ? LIVE : lines.length > MANY && !all ? SHOWN : lines.length;
  const earlier = Math.max(0, lines.length - n);
  return (
    <div className={`out-box ${live ? "live" : ""}`}>
      {earlier > 0 && !live && (
        <button type="button" className="more" onClick={() => setAll(true)}>
          Show all {count(lines.length)} lines
        </button>
      )}
      <pre className="out" tabIndex={0} role="group" aria-label={label}>
        {lines.slice(-n).map((line, at) => (
          <OutputLine key={earlier + at} line={line} />
        ))}
      </pre>
    </div>
  );
});

const OutputLine = memo(function OutputLine({ line }: { line: string }) {
  const [whole, setWhole] = useState(false);
  const cut = line.length > LONG && !whole;
  const parts = useMemo(() => pieces(cut ? line.slice(0, LONG) : line), [line, cut]);
  return (
    <div className="ol">
      <Pieces pieces={parts} />
      {cut && (
        <button type="button" className="more" onClick={() => setWhole(true)}>
          Show whole line ({count(line.length)} characters)
        </button>
      )}
    </div>
  );
});

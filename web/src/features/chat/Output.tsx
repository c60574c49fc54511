import { memo, useMemo, useState } from "react";
import { pieces } from "~/lib/ansi";
import { count } from "~/lib/format";
import { Pieces } from "~/ui/Pieces";

/** Longer outputs show their end first: what went wrong stands there. */
const MANY = 40;
const SHOWN = 20;
/** More are drawn in steps, so that an output of any length can be read. */
const STEP = 2000;
/** Longer lines are cut. */
const LONG = 2000;
/** While it runs: this many lines in a box of fixed height. */
const LIVE = 3;

type Props = {
  text: string;
  live?: boolean;
  label?: string;
  /** The text is only the beginning: its last lines are elsewhere. */
  isCut?: boolean;
  onWhole?: () => Promise<void>;
};

/** What a program printed: colours mapped, control characters shown, too much of it folded until asked for. */
export const Output = memo(function Output({ text, live = false, label = "Output", isCut = false, onWhole }: Props) {
  const [more, setMore] = useState(0);
  const [busy, setBusy] = useState(false);
  const lines = useMemo(() => text.replace(/\n$/, "").split("\n"), [text]);
  const n = Math.min(lines.length, live ? LIVE : lines.length > MANY ? SHOWN + more : lines.length);
  const hidden = lines.length - n;
  const step = Math.min(hidden, STEP);
  const load = () => {
    setBusy(true);
    void onWhole?.().finally(() => setBusy(false));
  };
  return (
    <div className={`out-box ${live ? "live" : ""}`}>
      {hidden > 0 && !live && !isCut && (
        <button type="button" className="more" onClick={() => setMore(more + step)}>
          Show {step < hidden ? `${count(step)} of ${count(hidden)}` : count(hidden)} earlier {hidden === 1 ? "line" : "lines"}
        </button>
      )}
      <pre className="out" tabIndex={0} role="group" aria-label={label}>
        {(isCut ? lines.slice(0, n) : lines.slice(-n)).map((line, at) => (
          <OutputLine key={isCut ? at : hidden + at} line={line} />
        ))}
      </pre>
      {isCut && !live && (
        <button type="button" className="more" disabled={busy} onClick={load}>
          {busy ? "Loading the whole output…" : "Output truncated. Load all of it"}
        </button>
      )}
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

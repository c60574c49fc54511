import { useEffect, useState, type ReactNode } from "react";
import { Failed, Skeleton } from "~/ui/Notice";

type State<T> = { state: "working" } | { state: "done"; value: T } | { state: "failed"; message: string };

/** Parses bytes, which takes a while and may fail. `close` releases the result when it is no longer shown. */
export function useParsed<T>(bytes: Uint8Array<ArrayBuffer>, parse: (bytes: Uint8Array<ArrayBuffer>) => Promise<T>, close?: (value: T) => void): State<T> {
  const [state, setState] = useState<State<T>>({ state: "working" });
  useEffect(() => {
    let isCurrent = true;
    const parsed = parse(bytes);
    parsed.then(
      (value) => isCurrent && setState({ state: "done", value }),
      (error: unknown) => isCurrent && setState({ state: "failed", message: error instanceof Error ? error.message : String(error) }),
    );
    return () => {
      isCurrent = false;
      if (close) parsed.then(close, () => {}); // A failed parse left nothing to release.
    };
  }, [bytes, parse, close]);
  return state;
}

/** Shows what was made, or that it is being made, or why it was not. */
export function Parsed<T>({ of: state, children }: { of: State<T>; children: (value: T) => ReactNode }) {
  if (state.state === "working") return <Skeleton rows={8} height={24} />;
  if (state.state === "failed") return <Failed title="This file cannot be previewed">{state.message} The file itself is unchanged: download it to open it elsewhere.</Failed>;
  return children(state.value);
}

import { useEffect, useState, type ReactNode } from "react";
import { Failed, Skeleton } from "~/ui/Notice";

type State<T> = { state: "working" } | { state: "done"; value: T } | { state: "failed"; message: string };

/** Something made of bytes, which takes a while and may fail. */
export function useParsed<T>(bytes: Uint8Array<ArrayBuffer>, parse: (bytes: Uint8Array<ArrayBuffer>) => Promise<T>): State<T> {
  const [state, setState] = useState<State<T>>({ state: "working" });
  useEffect(() => {
    let isCurrent = true;
    parse(bytes).then(
      (value) => isCurrent && setState({ state: "done", value }),
      (error: unknown) => isCurrent && setState({ state: "failed", message: error instanceof Error ? error.message : String(error) }),
    );
    return () => {
      isCurrent = false;
    };
  }, [bytes, parse]);
  return state;
}

/** Shows what was made, or that it is being made, or why it was not. */
export function Parsed<T>({ of: state, children }: { of: State<T>; children: (value: T) => ReactNode }) {
  if (state.state === "working") return <Skeleton rows={8} height={24} />;
  if (state.state === "failed") return <Failed title="It could not be shown">{state.message} Its content is unchanged; download it to open it elsewhere.</Failed>;
  return children(state.value);
}

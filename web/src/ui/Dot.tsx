export type State = "run" | "boot" | "wait" | "idle" | "fail";

const WORDS: Record<State, string> = {
  run: "Running",
  boot: "Starting",
  wait: "Waiting for you",
  idle: "Idle",
  fail: "Failed",
};

/** A state as a shape with a name: never colour alone. */
export function Dot({ state, label }: { state: State; label?: string }) {
  return <span className={`dot ${state}`} role="img" aria-label={label ?? WORDS[state]} />;
}

import type { Effort } from "./EffortMenu";

/** What can be chosen, with what it means. */
export const EFFORTS: readonly { value: Effort; note?: string }[] = [
  { value: null, note: "the agent chooses" },
  { value: "low", note: "faster, cheaper" },
  { value: "medium" },
  { value: "high", note: "slower, thorough" },
];

const NAMES: Record<string, string> = { low: "Low", medium: "Medium", high: "High" };

/** What people call an effort. */
export const effortName = (effort: Effort): string => (effort === null ? "Default" : (NAMES[effort] ?? effort));

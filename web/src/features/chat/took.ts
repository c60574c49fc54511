import { clock } from "~/lib/format";

/** How long a step took: `< 0.1 s`, `3.4 s`, `1:52`. */
export function took(ms: number): string {
  if (ms < 100) return "< 0.1 s";
  return ms < 59_950 ? `${(ms / 1000).toFixed(1)} s` : clock(ms);
}

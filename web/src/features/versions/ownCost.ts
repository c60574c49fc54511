import type { Version } from "@warren/react";

/** What was spent between a version and the one it follows: a version's own figure is what the session had spent until then. */
export function ownCost(version: Version, all: readonly Version[]): number | undefined {
  const base = all.find((one) => one.version === version.base);
  if (!base && version.base) return undefined;
  return Math.max(0, version.costUSD - (base?.costUSD ?? 0));
}

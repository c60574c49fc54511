// A replay in a few words. Pure.
import type { Replay } from "@warren/react";

export type Short = { text: string; tone: "" | "warn" | "bad" | "acc" };

export function inShort(replay: Replay): Short {
  if (replay.status === "running") return { text: "Replaying…", tone: "acc" };
  if (replay.status === "failed") return { text: "Replay failed", tone: "bad" };
  if (!replay.diverged) return { text: "Replayed, same files", tone: "" };
  const at = replay.firstDivergence?.index;
  return { text: at === undefined || at === null ? "replay differs" : `replay differs at model call ${at}`, tone: "warn" };
}

export const wrong = (replay: Replay): string =>
  typeof replay.error === "string" ? replay.error : (replay.error?.message ?? "No reason was given.");

// How busy a sandbox is, from two readings of the time it has used.

export type Reading = { at: number; seconds: number; part: number | null };

/** The part of its limit used since the last reading, or `null` at the first. Readings less than a second apart are one. */
export function cpuPart(readings: Map<string, Reading>, key: string, seconds: number, limit: number, now: number = Date.now()): number | null {
  const last = readings.get(key);
  if (last && now - last.at < 1000) return last.part;
  const part = last && seconds >= last.seconds ? Math.min(1, (seconds - last.seconds) / ((now - last.at) / 1000) / limit) : null;
  readings.set(key, { at: now, seconds, part });
  return part;
}

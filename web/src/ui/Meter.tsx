/** How much of something is used: amber from 80 %. The words stand beside it. */
export function Meter({ part, label }: { part: number; label: string }) {
  const percent = Math.max(0, Math.min(100, Math.round(part * 100)));
  return (
    <span className={`meter ${percent >= 80 ? "w" : ""}`} role="img" aria-label={`${label}: ${percent} %`}>
      <i style={{ width: `${percent}%` }} />
    </span>
  );
}

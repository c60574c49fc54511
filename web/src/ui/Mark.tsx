/** The mark: a round-footed w, two tunnels meeting, with a chamber above. */
export function Mark({ className = "mark" }: { className?: string }) {
  return (
    <svg className={className} viewBox="0 0 24 24" fill="none" stroke="currentColor" strokeWidth="2.7" strokeLinecap="round" aria-hidden="true">
      <path d="M3 4.5v8.6a4.5 4.5 0 0 0 9 0v-2.3" />
      <path d="M12 13.1a4.5 4.5 0 0 0 9 0V4.5" />
      <circle cx="12" cy="5.3" r="2.3" fill="currentColor" stroke="none" />
    </svg>
  );
}

// The drawings of every icon and agent mark, put into the document once and used by name.

export type IconName =
  | "search"
  | "pin"
  | "archive"
  | "sun"
  | "plus"
  | "right"
  | "down"
  | "file"
  | "folder"
  | "term"
  | "pencil"
  | "eye"
  | "check"
  | "tick"
  | "x"
  | "alert"
  | "shield"
  | "share"
  | "stop"
  | "up"
  | "arrdn"
  | "clip"
  | "fork"
  | "diff"
  | "undo"
  | "play"
  | "think"
  | "list"
  | "panel"
  | "moon"
  | "reload"
  | "phone"
  | "expand"
  | "beside"
  | "dl"
  | "upl"
  | "gear"
  | "chart"
  | "doc"
  | "sheet"
  | "slides"
  | "app"
  | "key"
  | "lock"
  | "clock"
  | "hand"
  | "plug"
  | "ask"
  | "filter"
  | "cmd"
  | "menu"
  | "more"
  | "chat";

export type AgentGlyph = "claude" | "gemini" | "opencode" | "codex" | "warren";

export function IconSprite() {
  return (
    <svg width="0" height="0" className="absolute" aria-hidden="true">
      <defs>
        <symbol id="i-search" viewBox="0 0 16 16"><circle cx="7" cy="7" r="4.5"/><path d="m13.5 13.5-3.2-3.2"/></symbol>
        <symbol id="i-pin" viewBox="0 0 16 16"><path d="M6 2h4l-.6 4.2 2.4 2.3H4.2l2.4-2.3zM8 8.5V14"/></symbol>
        <symbol id="i-archive" viewBox="0 0 16 16"><path d="M2 3h12v3H2zM3 6v7.2h10V6M6.5 9h3"/></symbol>
        <symbol id="i-sun" viewBox="0 0 16 16"><circle cx="8" cy="8" r="2.8"/><path d="M8 1.5v1.8M8 12.7v1.8M1.5 8h1.8M12.7 8h1.8M3.4 3.4l1.3 1.3M11.3 11.3l1.3 1.3M12.6 3.4l-1.3 1.3M4.7 11.3l-1.3 1.3"/></symbol>
        <symbol id="i-more" viewBox="0 0 16 16"><path d="M3.5 8h.01M8 8h.01M12.5 8h.01" strokeWidth="2"/></symbol>
        <symbol id="i-plus" viewBox="0 0 16 16"><path d="M8 3v10M3 8h10"/></symbol>
        <symbol id="i-right" viewBox="0 0 16 16"><path d="m6 3.5 4.5 4.5L6 12.5"/></symbol>
        <symbol id="i-down" viewBox="0 0 16 16"><path d="m3.5 6 4.5 4.5L12.5 6"/></symbol>
        <symbol id="i-file" viewBox="0 0 16 16"><path d="M4 1.8h5l3.2 3.2v9.2H4zM9 1.8V5h3.2"/></symbol>
        <symbol id="i-folder" viewBox="0 0 16 16"><path d="M1.8 12.8V3.7h4.4l1.6 1.8h6.4v7.3z"/></symbol>
        <symbol id="i-term" viewBox="0 0 16 16"><path d="m3 4.5 3.5 3.5L3 11.5M8.5 12H13"/></symbol>
        <symbol id="i-pencil" viewBox="0 0 16 16"><path d="m10.4 2.8 2.8 2.8-7.6 7.6-3.4.6.6-3.4z"/></symbol>
        <symbol id="i-eye" viewBox="0 0 16 16"><path d="M1.5 8S4 3.7 8 3.7 14.5 8 14.5 8 12 12.3 8 12.3 1.5 8 1.5 8z"/><circle cx="8" cy="8" r="1.8"/></symbol>
        <symbol id="i-check" viewBox="0 0 16 16"><path d="m3 8.5 3.3 3.3L13 4.8"/></symbol>
        <symbol id="i-tick" viewBox="0 0 16 16"><path d="m4.8 8.3 2.2 2.2 4.2-4.6" strokeWidth="2"/></symbol>
        <symbol id="i-x" viewBox="0 0 16 16"><path d="m4 4 8 8M12 4l-8 8"/></symbol>
        <symbol id="i-alert" viewBox="0 0 16 16"><path d="M8 2.2 14.5 13.5h-13zM8 6.5v3M8 11.6v.1"/></symbol>
        <symbol id="i-shield" viewBox="0 0 16 16"><path d="M8 1.8 13.2 3.7v4.1c0 3-2.1 5.2-5.2 6.4-3.1-1.2-5.2-3.4-5.2-6.4V3.7z"/><path d="m5.8 8 1.6 1.6 2.9-3"/></symbol>
        <symbol id="i-share" viewBox="0 0 16 16"><path d="M8 10V2M5 4.5 8 1.8l3 2.7M3.2 8v6h9.6V8"/></symbol>
        <symbol id="i-stop" viewBox="0 0 16 16"><rect x="4" y="4" width="8" height="8" rx="1.5" fill="currentColor"/></symbol>
        <symbol id="i-up" viewBox="0 0 16 16"><path d="M8 13V3.2M3.8 7.2 8 3l4.2 4.2"/></symbol>
        <symbol id="i-arrdn" viewBox="0 0 16 16"><path d="M8 3v9.8M3.8 8.8 8 13l4.2-4.2"/></symbol>
        <symbol id="i-clip" viewBox="0 0 16 16"><path d="m13 7.3-5.4 5.3a3.2 3.2 0 0 1-4.6-4.5l5.6-5.5a2.1 2.1 0 0 1 3 3L6.3 11a1 1 0 0 1-1.5-1.4l4.9-4.8"/></symbol>
        <symbol id="i-fork" viewBox="0 0 16 16"><circle cx="4" cy="3.5" r="1.7"/><circle cx="4" cy="12.5" r="1.7"/><circle cx="12" cy="6" r="1.7"/><path d="M4 5.2v5.6M12 7.7c0 2.6-3.5 2.3-6.5 3.6"/></symbol>
        <symbol id="i-diff" viewBox="0 0 16 16"><path d="M8 2v6M5 5h6M5 12.5h6"/></symbol>
        <symbol id="i-undo" viewBox="0 0 16 16"><path d="M3 3v4h4M3.3 7A5.2 5.2 0 1 1 3 9.8"/></symbol>
        <symbol id="i-play" viewBox="0 0 16 16"><path d="M4.5 2.8 13 8l-8.5 5.2z"/></symbol>
        <symbol id="i-think" viewBox="0 0 16 16"><path d="M8 1.8v2.4M8 11.8v2.4M1.8 8h2.4M11.8 8h2.4M3.6 3.6l1.7 1.7M10.7 10.7l1.7 1.7M12.4 3.6l-1.7 1.7M5.3 10.7l-1.7 1.7"/></symbol>
        <symbol id="i-list" viewBox="0 0 16 16"><path d="M6.5 4H14M6.5 8H14M6.5 12H14M2 4l1 1 1.6-2M2 8.2l1 1 1.6-2M2.3 12.2h1.5"/></symbol>
        <symbol id="i-panel" viewBox="0 0 16 16"><rect x="1.8" y="2.8" width="12.4" height="10.4" rx="2"/><path d="M9.8 2.8v10.4"/></symbol>
        <symbol id="i-moon" viewBox="0 0 16 16"><path d="M13.5 9.6A6 6 0 0 1 6.4 2.5a6 6 0 1 0 7.1 7.1z"/></symbol>
        <symbol id="i-reload" viewBox="0 0 16 16"><path d="M13 3v3.6H9.4M12.7 6.5A5.2 5.2 0 1 0 13 9.8"/></symbol>
        <symbol id="i-phone" viewBox="0 0 16 16"><rect x="4.5" y="1.8" width="7" height="12.4" rx="1.6"/><path d="M7.3 12h1.4"/></symbol>
        <symbol id="i-expand" viewBox="0 0 16 16"><path d="M9.5 2.5h4v4M6.5 13.5h-4v-4M13.3 2.7 9.3 6.7M2.7 13.3l4-4"/></symbol>
        <symbol id="i-beside" viewBox="0 0 16 16"><rect x="1.8" y="2.8" width="12.4" height="10.4" rx="2"/><path d="M8 2.8v10.4M10.3 8h1.7"/></symbol>
        <symbol id="i-dl" viewBox="0 0 16 16"><path d="M8 2v8M4.8 7 8 10.2 11.2 7M2.8 13.5h10.4"/></symbol>
        <symbol id="i-upl" viewBox="0 0 16 16"><path d="M8 10.2V2.2M4.8 5.2 8 2l3.2 3.2M2.8 13.5h10.4"/></symbol>
        <symbol id="i-gear" viewBox="0 0 16 16"><path d="M2 4.5h5M11 4.5h3M2 11.5h3M9 11.5h5"/><circle cx="9" cy="4.5" r="1.9"/><circle cx="7" cy="11.5" r="1.9"/></symbol>
        <symbol id="i-chart" viewBox="0 0 16 16"><path d="M2.5 13.5h11M4.5 11V7.5M8 11V3M11.5 11V5.5"/></symbol>
        <symbol id="i-doc" viewBox="0 0 16 16"><path d="M3.8 1.8h8.4v12.4H3.8zM6 5h4M6 8h4M6 11h2.5"/></symbol>
        <symbol id="i-sheet" viewBox="0 0 16 16"><rect x="2" y="2.5" width="12" height="11" rx="1.5"/><path d="M2 6.2h12M2 9.9h12M6.5 6.2v7.3"/></symbol>
        <symbol id="i-slides" viewBox="0 0 16 16"><path d="M1.8 3h12.4M3 3v7.2h10V3M8 10.2v1.6M5.5 14 8 11.8l2.5 2.2"/></symbol>
        <symbol id="i-app" viewBox="0 0 16 16"><rect x="1.8" y="2.5" width="12.4" height="11" rx="2"/><path d="M1.8 5.8h12.4M4 4.2h.1M6 4.2h.1"/></symbol>
        <symbol id="i-key" viewBox="0 0 16 16"><circle cx="5" cy="8" r="3"/><path d="M8 8h6M12 8v2.5"/></symbol>
        <symbol id="i-lock" viewBox="0 0 16 16"><rect x="3.2" y="7" width="9.6" height="6.8" rx="1.5"/><path d="M5.3 7V5a2.7 2.7 0 0 1 5.4 0v2"/></symbol>
        <symbol id="i-clock" viewBox="0 0 16 16"><circle cx="8" cy="8" r="6"/><path d="M8 4.8V8l2.2 1.5"/></symbol>
        <symbol id="i-hand" viewBox="0 0 16 16"><path d="M5 8.5V4.2a1 1 0 0 1 2 0V7M7 7V2.9a1 1 0 0 1 2 0V7M9 7V3.7a1 1 0 0 1 2 0V8M11 6.2a1 1 0 0 1 2 0v3.5c0 2.8-1.8 4.5-4.3 4.5-2.3 0-3.4-1-4.4-2.9L2.7 8.5a1 1 0 0 1 1.7-1L5 8.5"/></symbol>
        <symbol id="i-plug" viewBox="0 0 16 16"><path d="M5.5 2v3.5M10.5 2v3.5M3.5 5.5h9v2.3a4.5 4.5 0 0 1-9 0zM8 12.3V14.5"/></symbol>
        <symbol id="i-ask" viewBox="0 0 16 16"><path d="M5.5 6a2.5 2.5 0 1 1 3.6 2.2C8.3 8.6 8 9 8 9.9M8 12.6v.1"/></symbol>
        <symbol id="i-filter" viewBox="0 0 16 16"><path d="M2 4h12M4.5 8h7M6.8 12h2.4"/></symbol>
        <symbol id="i-cmd" viewBox="0 0 16 16"><rect x="1.8" y="3.3" width="12.4" height="9.4" rx="2"/><path d="m4.8 6.5 1.7 1.6-1.7 1.6M8.5 9.9h2.7"/></symbol>
        <symbol id="i-menu" viewBox="0 0 16 16"><path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11"/></symbol>
        <symbol id="i-chat" viewBox="0 0 16 16"><path d="M2.2 3h11.6v8H7l-3 2.7V11H2.2z"/></symbol>
        <symbol id="a-claude" viewBox="0 0 16 16"><path d="M8 2v12M2 8h12M3.8 3.8l8.4 8.4M12.2 3.8l-8.4 8.4"/></symbol>
        <symbol id="a-gemini" viewBox="0 0 16 16"><path d="M8 1.5C8.4 5.5 10.5 7.6 14.5 8 10.5 8.4 8.4 10.5 8 14.5 7.6 10.5 5.5 8.4 1.5 8 5.5 7.6 7.6 5.5 8 1.5z"/></symbol>
        <symbol id="a-opencode" viewBox="0 0 16 16"><path d="M5.5 2.5h-3v11h3M10.5 2.5h3v11h-3"/><rect x="6.3" y="6" width="3.4" height="4" fill="currentColor" stroke="none"/></symbol>
        <symbol id="a-codex" viewBox="0 0 16 16"><path d="M8 1.8 13.4 4.9v6.2L8 14.2 2.6 11.1V4.9z"/><path d="m6 6.3 1.8 1.7L6 9.7M8.7 9.9H10.4"/></symbol>
        <symbol id="a-warren" viewBox="0 0 16 16"><path d="M2 3.5v4.7a3 3 0 0 0 6 0V7M8 8.2a3 3 0 0 0 6 0V3.5"/><circle cx="8" cy="4.3" r="1.3" fill="currentColor" stroke="none"/></symbol>
      </defs>
    </svg>
  );
}

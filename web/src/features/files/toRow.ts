/** How long a row that is about to be listed may take. */
const LISTED_MS = 3_000;

/** Gives the focus to a row of the file tree, as soon as it is there; to the tree if there is no such row. */
export function toRow(path: string | null) {
  const until = performance.now() + (path === null ? 0 : LISTED_MS);
  const look = () => {
    const row = path === null ? null : document.querySelector<HTMLElement>(`.trees [data-path="${CSS.escape(path)}"]`);
    if (row) {
      row.focus();
      row.scrollIntoView({ block: "nearest" });
    } else if (performance.now() < until && isFree()) requestAnimationFrame(look);
    else if (isFree()) document.querySelector<HTMLElement>(".trees [role=tree]")?.focus();
  };
  // After the dialog has given the focus back.
  requestAnimationFrame(look);
}

/** Whether nobody typed elsewhere meanwhile. */
function isFree(): boolean {
  const message = document.querySelector<HTMLTextAreaElement>("#msg");
  const at = document.activeElement;
  return at === null || at === document.body || at === message || at.closest(".files-pane") !== null;
}

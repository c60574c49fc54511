import type { Suggestion } from "./complete";
import { Icon } from "~/ui/Icon";

type Props = { id: string; kind: "file" | "command"; shown: readonly Suggestion[]; active: number; onChoose: (one: Suggestion) => void };

/** Files or commands that fit what is being typed; arrows move, Enter or Tab chooses. */
export function Suggestions({ id, kind, shown, active, onChoose }: Props) {
  if (!shown.length) return null;
  return (
    <div className="suggest" role="listbox" id={id} aria-label={kind === "file" ? "Files" : "Commands"}>
      {shown.map((one, at) => (
        <div
          key={one.id}
          id={`${id}-${at}`}
          role="option"
          aria-selected={at === active}
          // Not on click: the field must keep the focus.
          onPointerDown={(event) => {
            event.preventDefault();
            onChoose(one);
          }}
        >
          <Icon name={kind === "command" ? "cmd" : one.isFolder ? "folder" : "file"} size="s" />
          <bdi className="cut">{kind === "command" ? `/${one.label}` : one.label}</bdi>
          {one.note && <span className="muted cut">{one.note}</span>}
        </div>
      ))}
    </div>
  );
}

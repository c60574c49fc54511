import type { FileEntry } from "@warren/react";
import type { SyntheticEvent } from "react";
import { visible } from "~/lib/ansi";
import { Icon } from "~/ui/Icon";
import { Menu, type MenuItem } from "~/ui/Menu";
import type { Asked } from "./FileDialogs";

type Props = { entry: FileEntry; isFixed: boolean; onAsk: (asked: Asked) => void };

/** What can be done to a row. Its keys and presses are its own, and not the row's. */
export function RowMenu({ entry, isFixed, onAsk }: Props) {
  const isFolder = entry.kind === "directory";
  const items: MenuItem[] = [
    ...(isFolder ? [
      { label: "New file…", icon: "file" as const, onChoose: () => onAsk({ act: "file", folder: entry.path }) },
      { label: "New folder…", icon: "folder" as const, onChoose: () => onAsk({ act: "folder", folder: entry.path }) },
    ] : []),
    ...(isFixed ? [] : [
      { label: "Rename…", icon: "pencil" as const, note: "F2", onChoose: () => onAsk({ act: "rename", entry }) },
      { label: "Move…", icon: "share" as const, onChoose: () => onAsk({ act: "move", entry }) },
      { label: "Delete…", icon: "x" as const, note: "Del", onChoose: () => onAsk({ act: "delete", entry }) },
    ]),
  ];
  const own = (event: SyntheticEvent) => event.stopPropagation();
  return (
    <span className="row-menu" onClick={own} onKeyDown={own} draggable={false}>
      <Menu label={`Actions for ${visible(entry.name)}`} className="btn ghost sq tiny" align="end" tabIndex={-1} items={items}>
        <Icon name="more" size="s" />
      </Menu>
    </span>
  );
}

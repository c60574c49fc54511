import type { SessionOptions } from "@warren/react";
import { Icon } from "~/ui/Icon";
import { Menu } from "~/ui/Menu";
import { EFFORTS, effortName } from "./efforts";

export type Effort = NonNullable<SessionOptions["effort"]> | null;

type Props = { effort: Effort; onChoose: (effort: Effort) => void };

/** How much the model thinks before it answers. Only for agents that can be told. */
export function EffortMenu({ effort, onChoose }: Props) {
  return (
    <Menu label={`Reasoning effort ${effortName(effort)}`} className="pick pick-effort hide-s" items={EFFORTS.map(({ value, note }) => ({ label: effortName(value), note, checked: value === effort, onChoose: () => onChoose(value) }))}>
      <b>Effort</b> <span>{effortName(effort)}</span>
      <Icon name="down" size="xs" />
    </Menu>
  );
}

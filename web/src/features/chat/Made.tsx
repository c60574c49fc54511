import { memo } from "react";
import { visible } from "~/lib/ansi";
import { Icon } from "~/ui/Icon";
import { KINDS } from "../viewers/kinds";
import type { Thing } from "./things";
import { Step } from "./Step";

type Props = { things: readonly Thing[]; onOpen: (id: string) => void };

/** What a run left in outputs/, as tiles that open beside the conversation. */
export const Made = memo(function Made({ things, onOpen }: Props) {
  return (
    <Step icon="app">
      <div className="made" role="group" aria-label="Made in this run">
        {things.map((thing) => {
          const { icon, name } = KINDS[thing.kind] ?? KINDS.code;
          return (
            <button key={thing.id} type="button" className="att" onClick={() => onOpen(thing.id)}>
              <span className="ic"><Icon name={icon} size="s" /></span>
              <span><b className="cut"><bdi>{visible(thing.name)}</bdi></b><small>{name} · {thing.is}</small></span>
            </button>
          );
        })}
      </div>
    </Step>
  );
});

import { useResource, useWarrenClient, type ModelItem } from "@warren/react";
import { useId, useState, type KeyboardEvent, type ReactNode } from "react";
import { saidWithHint } from "~/lib/problem";
import { Button } from "~/ui/Button";
import { Dialog } from "~/ui/Dialog";
import { Icon } from "~/ui/Icon";
import { Skeleton } from "~/ui/Notice";
import { doubtOf, idOf, modelsFor, optionsFor, priceWords, windowWords, type ModelOption } from "./models";

/** What was chosen: a name, empty for the agent’s own, and the model if it is listed. */
export type Chosen = { id: string; model?: ModelItem };

type Props = { title: string; agent: string; current: string; children: ReactNode; onChoose: (chosen: Chosen) => void | Promise<unknown>; onClose: () => void };

/** Chooses a model: type to search, arrows to move, Enter to take. A name that is not listed can be taken too. */
export function ModelDialog({ title, agent, current, children, onChoose, onClose }: Props) {
  const client = useWarrenClient();
  const list = useResource("models", client.models);
  const id = useId();
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const [problem, setProblem] = useState<string | null>(null);
  const models = modelsFor(agent, list.data?.models ?? []);
  const options = optionsFor(models, typed);
  const active = options[Math.min(at, options.length - 1)];
  const doubt = list.state === "loading" ? null : doubtOf(typed, models);
  const choose = async (option: ModelOption | undefined) => {
    if (!option) return;
    setProblem(null);
    try {
      await onChoose({ id: idOf(option), model: option.kind === "listed" ? option.model : undefined });
      onClose();
    } catch (error) {
      setProblem(saidWithHint(error));
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: options.length - 1, PageDown: Math.min(at + 8, options.length - 1), PageUp: Math.max(at - 8, 0) }[event.key];
    if (event.key === "Enter" && !event.nativeEvent.isComposing) void choose(active);
    else if (to !== undefined && options.length) setAt((to + options.length) % options.length);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog label="Model" className="dlg models" onClose={onClose}>
      <h2>{title}</h2>
      <p className="sub">{children}</p>
      <div className="dlg-fields">
        <input
          className="inp-line"
          role="combobox"
          aria-label="Search models, or type a name"
          placeholder="Search models, or type a name"
          aria-expanded="true"
          aria-controls={id}
          aria-autocomplete="list"
          aria-activedescendant={active && `${id}-${options.indexOf(active)}`}
          aria-describedby={doubt ? `${id}-doubt` : undefined}
          autoFocus
          spellCheck={false}
          autoComplete="off"
          maxLength={128}
          value={typed}
          onChange={(event) => { setTyped(event.target.value); setAt(0); }}
          onKeyDown={onKeyDown}
        />
      </div>
      {list.state === "loading" && !list.data ? (
        <Skeleton rows={4} height={40} />
      ) : (
        <div role="listbox" id={id} aria-label="Models" className="results" tabIndex={-1}>
          {options.map((option, index) => (
            <Option key={option.kind === "listed" ? `${option.model.provider}/${option.model.id}` : option.kind} id={`${id}-${index}`} option={option} on={option === active} isCurrent={idOf(option) === current} onChoose={() => void choose(option)} onPoint={() => setAt(index)} />
          ))}
        </div>
      )}
      {options.length === 0 && list.state !== "loading" && <p className="noses">Nothing matches ‘{typed}’.</p>}
      {doubt && <p className="field-warn" id={`${id}-doubt`} role="status">{doubt}</p>}
      {list.state === "failed" && <p className="field-warn" role="status">The list of models could not be loaded. You can type a name.</p>}
      {list.data?.problems.map((one) => <p className="field-warn" key={one.provider}>Models of {one.provider} are missing: {one.message}.</p>)}
      {problem && <p className="dlg-bad" role="alert">{problem}</p>}
      <div className="dlg-acts">
        <span className="muted grow num">Prices for a million tokens</span>
        <Button look="line" onClick={onClose}>Cancel</Button>
      </div>
    </Dialog>
  );
}

type OptionProps = { id: string; option: ModelOption; on: boolean; isCurrent: boolean; onChoose: () => void; onPoint: () => void };

function Option({ id, option, on, isCurrent, onChoose, onPoint }: OptionProps) {
  return (
    <div id={id} className={`mo ${on ? "on" : ""}`} role="option" aria-selected={on} aria-current={isCurrent ? "true" : undefined} onClick={onChoose} onPointerMove={onPoint} ref={(row) => { if (on) row?.scrollIntoView({ block: "nearest" }); }}>
      <span className="mo-tick">{isCurrent && <Icon name="check" size="s" />}</span>
      {option.kind === "default" && <span className="mo-n"><b>Agent’s default</b><small>The agent, or its profile, chooses</small></span>}
      {option.kind === "typed" && <span className="mo-n"><b className="cut">Use “<bdi>{option.id}</bdi>”</b><small>Not in the list</small></span>}
      {option.kind === "listed" && (
        <>
          <span className="mo-n"><b className="cut mono"><bdi>{option.model.id}</bdi></b><small className="cut">{[option.model.displayName, option.model.provider].filter(Boolean).join(" · ")}</small></span>
          <span className="mo-p num">{priceWords(option.model)}<small>{windowWords(option.model)}</small></span>
        </>
      )}
    </div>
  );
}

import { useResource, useWarrenClient, type AgentItem, type SessionListItem } from "@warren/react";
import { useRef, useState, type KeyboardEvent } from "react";
import { awaitComposer } from "~/lib/focus";
import { cost } from "~/lib/format";
import { navigate, sessionPath } from "~/lib/router";
import { AgentMark, agentName } from "~/ui/AgentMark";
import { Button } from "~/ui/Button";
import { Icon } from "~/ui/Icon";
import type { IconName } from "~/ui/IconSprite";
import { Mark } from "~/ui/Mark";
import { Menu } from "~/ui/Menu";
import { Unread } from "~/ui/Notice";
import { contentOf, useGrow } from "../composer/Composer";
import { Uploads, whatHolds } from "../composer/Uploads";
import { withChoice, withFile, without, type Attached } from "./attached";
import { profilesToStartWith } from "../settings/profile";
import { backendOf } from "../shell/isolation";
import { usePerson } from "../shell/person";
import { Burger } from "../shell/TopBar";

const IDEAS: { icon: IconName; lead: string; rest: string; text: string }[] = [
  { icon: "app", lead: "Build a dashboard", rest: "of sales, with charts you can share", text: "Build me a dashboard of our sales" },
  { icon: "term", lead: "Find why a test is flaky", rest: "and propose a fix as a diff", text: "Find why a test is flaky and propose a fix as a diff" },
  { icon: "slides", lead: "Make slides from a document", rest: ", ten pages at most", text: "Make slides from the attached document, ten pages at most" },
  { icon: "list", lead: "Ask a subagent for a review", rest: "of what is in the workspace", text: "Ask a subagent for a review" },
];
const BUDGETS = [null, 1, 5, 20];

/** Where a session begins: pick an agent and say what you want. */
export function StartPage({ text: given = "" }: { text?: string }) {
  const person = usePerson();
  const client = useWarrenClient();
  const agents = useResource("agents", client.agents);
  const profiles = useResource("profiles", client.profiles);
  const doctor = useResource("doctor", client.doctor);
  const [agent, setAgent] = useState(() => localStorage.getItem("warren.agent") ?? "builtin");
  const [profile, setProfile] = useState<string | null>(null);
  const [budget, setBudget] = useState<number | null>(null);
  const [asks, setAsks] = useState(false);
  const [text, setText] = useState(given);
  const [name, setName] = useState("");
  const [files, setFiles] = useState<readonly Attached[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState<string | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const made = useRef<{ key: string; session: SessionListItem } | null>(null);
  useGrow(field, text);
  const offered = (agents.data?.agents ?? []).filter((item) => item.isAgent && item.name !== "acp");
  const chosen = offered.find((item) => item.name === agent) ?? offered[0];
  const add = (list: readonly File[]) => setFiles((old) => list.reduce(withFile, old));
  const held = files.find((one) => one.upload.state === "taken")?.upload;
  const start = async () => {
    if (!chosen || busy !== null || held || (!text.trim() && !files.length)) return;
    setProblem(null);
    try {
      if (!chosen.ready) {
        setBusy(`Installing ${agentName(chosen.name)}…`);
        await client.installAgent(chosen.name);
      }
      setBusy("Starting…");
      const wish = {
        type: chosen.name,
        agentProfileReference: profile ?? undefined,
        name: name.trim() || titleOf(text) || files[0]?.file.name,
        options: { budget: budget === null ? undefined : { costUsd: budget }, permissionMode: asks ? ("ask" as const) : undefined },
      };
      // One that was made before its files could be uploaded is gone on with: nobody asked for two.
      const key = JSON.stringify(wish);
      const session = made.current?.key === key ? made.current.session : await client.createSession(wish);
      made.current = { key, session };
      const sent = files.length ? await client.upload(session.sessionId, files.map((one) => one.file)) : { files: [] };
      localStorage.setItem("warren.agent", chosen.name);
      const store = client.store(session.sessionId);
      navigate(sessionPath(session.sessionId));
      awaitComposer(session.sessionId);
      // What becomes of the message is shown in the conversation.
      store.send(contentOf(text, sent.files.map((file) => file.path))).catch(() => {});
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      setBusy(null);
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void start();
  };
  const isolation = doctor.data?.isolation as { usable?: boolean; isolation?: unknown } | undefined;
  return (
    <>
      <header className="top">
        <Burger />
        <h1>New session</h1>
        <span className="grow" />
        {isolation && (
          <a className="badge" href="/doctor">
            <Icon name="shield" />
            <span className="lab">{isolation.usable === false ? "no sandbox: see Doctor" : `${backendOf(isolation.isolation)} ready`}</span>
          </a>
        )}
      </header>
      <section className="page" aria-label="Start a session">
        <div className="empty-in">
          <div className="hero">
            <Mark />
            <h1>What shall we build?</h1>
            <p>Pick an agent and say what you want. It works in its own sandbox, without network or your secrets, and every step and every version of its files is kept.</p>
          </div>
          {!person.mayRun ? (
            <p className="sub">This link is for reading only. Pick a session on the left.</p>
          ) : (
            <>
              {agents.state === "loading" ? <AgentsToCome /> : <Agents offered={offered} chosen={chosen?.name} onChoose={setAgent} />}
              <div className="comp" onDragOver={(event) => event.preventDefault()} onDrop={(event) => { event.preventDefault(); add([...event.dataTransfer.files]); }} onPaste={(event) => event.clipboardData.files.length && (event.preventDefault(), add([...event.clipboardData.files]))}>
                <Uploads
                  uploads={files.map((one) => one.upload)}
                  onChoose={(id, choice) => { setFiles((old) => withChoice(old, id, choice)); field.current?.focus(); }}
                  onRemove={(id) => { setFiles((old) => without(old, id)); field.current?.focus(); }}
                />
                <label className="vh" htmlFor="msg">First message</label>
                <textarea id="msg" ref={field} className="tall" autoFocus dir="auto" placeholder="Describe the work, or drop files here…" value={text} onChange={(event) => setText(event.target.value)} onKeyDown={onKeyDown} />
                <div className="bar">
                  <Button icon="clip" aria-label="Attach files" title="Attach files" onClick={() => picker.current?.click()} />
                  <input ref={picker} type="file" multiple hidden tabIndex={-1} aria-label="Files to attach" onChange={(event) => { add([...(event.target.files ?? [])]); event.target.value = ""; }} />
                  <Menu label={`Profile ${profile ?? "Default"}`} className="pick" items={profilesToStartWith(person.scope, profiles.data?.profiles ?? []).map((one) => ({ label: one.name ?? one.id, checked: one.id === (profile ?? "default"), onChoose: () => setProfile(one.id ?? null) }))}>
                    Profile <span>{profile ?? "Default"}</span>
                    <Icon name="down" size="xs" />
                  </Menu>
                  <Menu label={`Budget ${budget === null ? "none" : cost(budget)}`} className="pick hide-s" items={BUDGETS.map((usd) => ({ label: usd === null ? "None" : cost(usd), checked: usd === budget, onChoose: () => setBudget(usd) }))}>
                    Budget <span className="num">{budget === null ? "none" : cost(budget)}</span>
                    <Icon name="down" size="xs" />
                  </Menu>
                  <Menu label={asks ? "Asks first, before it acts" : "Acts by itself, before it acts"} className="pick hide-s" items={[{ label: "Acts by itself", note: "the sandbox is the guard", checked: !asks, onChoose: () => setAsks(false) }, { label: "Asks me first", checked: asks, onChoose: () => setAsks(true) }]}>
                    {asks ? "Asks first" : "Acts by itself"}
                    <Icon name="down" size="xs" />
                  </Menu>
                  <input className="name hide-s" aria-label="Session name" placeholder="Name" maxLength={200} value={name} onChange={(event) => setName(event.target.value)} />
                  <span className="grow" />
                  <Button look="fill" className="start" title={held && whatHolds(held)} disabled={busy !== null || !chosen || held !== undefined || (!text.trim() && !files.length)} onClick={() => void start()}>
                    {busy ?? (chosen && !chosen.ready ? "Install and start" : "Start")} <Icon name="up" size="s" />
                  </Button>
                </div>
              </div>
              {problem && <p className="dlg-bad" role="alert">{problem}</p>}
              {agents.state === "failed" && <Unread title="The agents cannot be listed" error={agents.error} onAgain={agents.refresh} />}
              <div className="ideas" role="group" aria-label="Ideas">
                {IDEAS.map((idea) => (
                  <button key={idea.text} type="button" onClick={() => { setText(idea.text); field.current?.focus(); }}>
                    <Icon name={idea.icon} />
                    <span className="grow cut"><b>{idea.lead}</b>{idea.rest.startsWith(",") ? "" : " "}{idea.rest}</span>
                    <Icon name="right" size="s" />
                  </button>
                ))}
              </div>
            </>
          )}
        </div>
      </section>
    </>
  );
}

/** A name out of the first words of a message. */
export function titleOf(text: string): string {
  const line = text.trim().split("\n")[0]!.replace(/\s+/g, " ");
  return line.length > 60 ? `${line.slice(0, 59).replace(/\s\S*$/, "")}…` : line;
}

/** Room for the agents until they are known, so that what is below stays where it is. */
function AgentsToCome() {
  return (
    <div className="agents" role="status" aria-label="Loading">
      {Array.from({ length: 5 }, (_, at) => <span key={at} className="agc to-come" />)}
    </div>
  );
}

type AgentsProps = { offered: readonly AgentItem[]; chosen: string | undefined; onChoose: (name: string) => void };

function Agents({ offered, chosen, onChoose }: AgentsProps) {
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const at = offered.findIndex((agent) => agent.name === chosen);
    const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1 }[event.key];
    const next = to === undefined ? undefined : offered[(to + offered.length) % offered.length];
    if (!next) return;
    event.preventDefault();
    onChoose(next.name);
    event.currentTarget.querySelectorAll<HTMLElement>("[role=radio]")[offered.indexOf(next)]?.focus();
  };
  return (
    <div className="agents" role="radiogroup" aria-label="Agent" onKeyDown={onKeyDown}>
      {offered.map((agent) => (
        <button key={agent.name} type="button" className="agc" role="radio" aria-checked={agent.name === chosen} tabIndex={agent.name === chosen ? 0 : -1} onClick={() => onChoose(agent.name)}>
          <AgentMark type={agent.name} size="xl" />
          <span className="grow">
            <b className="cut">{agent.name === "builtin" ? "Built-in" : agentName(agent.name)}</b>
            {agent.ready ? <small className="ok"><Icon name="check" size="xs" />Ready</small> : <small><Icon name="dl" size="xs" />Install</small>}
          </span>
        </button>
      ))}
    </div>
  );
}

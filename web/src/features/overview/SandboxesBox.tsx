import { useResource, useSessionList, useWarrenClient, type SandboxItem, type SessionListItem } from "@warren/react";
import { useEffect, useRef } from "react";
import { bytes } from "~/lib/format";
import { navigate, sessionPath } from "~/lib/router";
import { AgentMark } from "~/ui/AgentMark";
import { Empty, Skeleton, Unread } from "~/ui/Notice";
import { Meter } from "~/ui/Meter";
import { guardsOf } from "../shell/isolation";
import { cpuPart, type Reading } from "./cpu";

const EVERY_MS = 4_000;

/** What runs on this machine now, and what it uses. */
export function SandboxesBox() {
  const client = useWarrenClient();
  const list = useResource("sandboxes", () => client.sandboxes());
  const { sessions } = useSessionList();
  const before = useRef(new Map<string, Reading>());
  // An effect: what sandboxes use is polled for as long as it is shown.
  useEffect(() => {
    const timer = setInterval(() => document.hidden || void list.refresh(), EVERY_MS);
    return () => clearInterval(timer);
  }, [list.refresh]);
  const boxes = list.data?.sandboxes ?? [];
  const memory = boxes.reduce((sum, box) => sum + number(box.resources, "memoryBytes"), 0);
  return (
    <div className="box scrollx" tabIndex={0} role="region" aria-label="Sandboxes">
      <div className="h"><h2 className="grow">Sandboxes</h2>{boxes.length > 0 && <span className="muted num">{bytes(memory)} in use</span>}</div>
      {list.state === "loading" && <Skeleton rows={3} height={34} />}
      {list.state === "failed" && !list.data && <Unread title="The sandboxes could not be loaded" error={list.error} onAgain={list.refresh} />}
      {list.data && boxes.length === 0 && <Empty icon="shield">No sandboxes running. One starts with the next message and pauses when idle.</Empty>}
      {boxes.length > 0 && (
        <table className="tbl num">
          <thead><tr><th scope="col">Session</th><th scope="col">CPU</th><th scope="col">Memory</th><th scope="col">Disk</th><th scope="col">Isolation</th><th scope="col">State</th></tr></thead>
          <tbody>{boxes.map((box) => <SandboxRow key={box.sessionId} box={box} session={sessions.find((one) => one.sessionId === box.sessionId)} before={before.current} />)}</tbody>
        </table>
      )}
    </div>
  );
}

function SandboxRow({ box, session, before }: { box: SandboxItem; session: SessionListItem | undefined; before: Map<string, Reading> }) {
  const cpu = cpuPart(before, box.sessionId, number(box.resources, "cpuSeconds"), number(box.limits, "cpuMillis") / 1000 || 1);
  const [memory, most] = [number(box.resources, "memoryBytes"), number(box.limits, "memoryBytes")];
  const guards = guardsOf(box.isolation ?? box.runtime.sandbox?.isolation ?? null);
  const on = guards?.filter((guard) => guard.state === "on").length ?? 0;
  return (
    <tr>
      <td>
        <a className="row" href={sessionPath(box.sessionId)} onClick={(event) => { event.preventDefault(); navigate(sessionPath(box.sessionId)); }}>
          <AgentMark type={session?.type ?? "builtin"} />
          <bdi className="nm cut">{session?.name ?? "Unnamed session"}</bdi>
        </a>
      </td>
      <td>{cpu === null ? <span className="muted">measuring</span> : <span className="gm"><Meter part={cpu} label="CPU" />{Math.round(cpu * 100)} %</span>}</td>
      <td><span className="gm">{most > 0 && <Meter part={memory / most} label="Memory" />}{bytes(memory)}</span></td>
      <td>{bytes(number(box.resources, "diskBytes"))}</td>
      <td>{guards ? <span className="gm"><span className="guards" aria-hidden="true">{guards.map((guard) => <i key={guard.name} className={guard.state === "on" ? "" : guard.state === "part" ? "part" : "off"} />)}</span>{on} of {guards.length}</span> : <span className="muted">starting</span>}</td>
      <td className="muted">{box.runtime.sandbox?.status ?? "none"}</td>
    </tr>
  );
}

function number(of: unknown, key: string): number {
  const value = typeof of === "object" && of !== null ? (of as Record<string, unknown>)[key] : undefined;
  return typeof value === "number" ? value : 0;
}

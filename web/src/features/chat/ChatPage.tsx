import { useAgentSession, useLive, useVersions, useWarrenClient, WarrenError } from "@warren/react";
import { useEffect, useMemo, useRef, useState } from "react";
import { focusIsLost, toComposer } from "~/lib/focus";
import { artifactPath, navigate, sessionPath, versionPath, type Tab } from "~/lib/router";
import { agentName } from "~/ui/AgentMark";
import { Button } from "~/ui/Button";
import { Confirm } from "~/ui/Confirm";
import { Failed, Skeleton, Unread } from "~/ui/Notice";
import { Composer } from "../composer/Composer";
import { ModelPicker } from "../composer/ModelPicker";
import { ForkDialog } from "../sessions/ForkDialog";
import { nameOf } from "../sessions/families";
import { OfflineBar } from "../shell/OfflineBar";
import { NoticePage } from "../shell/NoticePage";
import { usePage } from "../shell/page";
import { usePerson } from "../shell/person";
import { Burger, TopBar } from "../shell/TopBar";
import { Panel } from "../shell/parts";
import { ownCost } from "../versions/ownCost";
import { ChatContext, type Chat } from "./context";
import { Conversation } from "./Conversation";
import { Thread } from "./Thread";
import type { VersionFact } from "./marks";
import { useNews } from "./useNews";
import { usePanelOpen } from "./usePanelOpen";

type Props = { sessionId: string; tab: Tab | null; subagent: string | null };

/** One session: its bar, its conversation, its panel. */
export function ChatPage({ sessionId, tab, subagent }: Props) {
  const client = useWarrenClient();
  const store = client.store(sessionId);
  const status = useLive(sessionId, ["status"], (live) => live.status);
  const session = useLive(sessionId, ["session", "status"], (live) => live.state.session);
  if (status.state === "failed" && !session) return <Missing error={status.error} onRetry={() => store.retryNow()} />;
  if (!session) return <Loading />;
  return <Loaded key={sessionId} sessionId={sessionId} tab={tab} subagent={subagent} />;
}

type Ask = { fork: number } | "delete" | { back: number } | null;

function Loaded({ sessionId, tab, subagent }: Props) {
  const page = usePage();
  const person = usePerson();
  const client = useWarrenClient();
  const store = client.store(sessionId);
  const live = useAgentSession(sessionId);
  const session = live.session!;
  const versions = useVersionFacts(sessionId);
  const [ask, setAsk] = useState<Ask>(null);
  const [renaming, setRenaming] = useState(false);
  const [stopping, setStopping] = useState<string | null>(null);
  const [unstopped, setUnstopped] = useState<string | null>(null);
  const [panel, setPanel] = usePanelOpen(sessionId, tab);
  const end = useRef<() => void>(() => {});
  const closes = useRef(false);
  const waiting = useLive(sessionId, ["approvals"], (one) => one.state.approvals.values());
  const open = useMemo(() => waiting.filter((one) => !one.resolution), [waiting]);
  const running = live.activeRun !== null;
  const state = open.length ? "wait" : running ? (live.runtime?.sandbox?.status === "starting" ? "boot" : "run") : "idle";
  const budget = (session.options as { budget?: { costUsd?: number } } | undefined)?.budget?.costUsd ?? null;
  const spent = live.spending.costUSD;
  const mayRun = person.mayRun && live.ended === null;
  useNews(sessionId);

  // A pane that closes with the focus gives it to the message.
  const beside = panel || subagent !== null;
  useEffect(() => {
    if (!beside && focusIsLost() && closes.current) toComposer();
    closes.current = beside;
  }, [beside]);

  const showTab = (to: Tab) => {
    setPanel(true);
    navigate(sessionPath(sessionId, to));
  };
  const stop = () => {
    if (!live.activeRun || stopping === live.activeRun.runId) return;
    setStopping(live.activeRun.runId);
    setUnstopped(null);
    live.interrupt().catch((error: unknown) => {
      setStopping(null);
      setUnstopped(error instanceof Error ? error.message : String(error));
    });
  };
  const again = () => {
    const last = live.lastRun;
    live.send(last?.status === "failed" ? last.content : "Continue.").catch(() => {});
    end.current();
  };
  page.session.current = {
    sessionId,
    name: nameOf(session),
    version: session.version,
    running,
    followLive: () => end.current(),
    stop: mayRun && running ? stop : null,
    fork: person.mayRun && session.version > 0 ? () => setAsk({ fork: session.version }) : null,
    rename: person.mayRun ? () => setRenaming(true) : null,
    remove: person.mayRun ? () => setAsk("delete") : null,
    showTab,
    togglePanel: () => setPanel(!panel),
    compare: () => showTab("versions"),
  };
  // Whoever leaves may do so after the next one has come, and must not take its keys along.
  useEffect(
    () => () => {
      if (page.session.current?.sessionId === sessionId) page.session.current = null;
    },
    [page, sessionId],
  );
  useEffect(() => {
    document.title = `${nameOf(session)} · Warren`;
    return () => void (document.title = "Warren");
  }, [session]);

  const chat: Chat = useStable({
    store,
    agentName: agentName(session.type),
    waitingIn: useMemo(() => new Set(open.map((one) => one.conversationId)), [open]),
    held: useMemo(() => new Set(open.flatMap((one) => one.toolUseId ?? [])), [open]),
    nameOf: (conversation) => (conversation === "main" ? agentName(session.type) : (store.state.subagents.get(conversation)?.name ?? "A subagent")),
    openBeside: (conversation) => navigate(`${sessionPath(sessionId)}?subagent=${encodeURIComponent(conversation)}`),
    openDiff: (version) => navigate(versionPath(sessionId, version)),
    openArtifact: (id) => navigate(artifactPath(sessionId, id)),
    answer: mayRun ? (approvalId, decision, more) => client.answer(approvalId, { decision, ...more }) : null,
    withdraw: mayRun ? (approvalId) => client.withdrawRule(approvalId) : null,
    fork: person.mayRun ? (version) => setAsk({ fork: version }) : null,
    again: mayRun && !running ? again : null,
    back: mayRun && !running ? (version) => setAsk({ back: version }) : null,
    resend: (key) => void store.resend(key).catch(() => {}),
    discard: (key) => store.discard(key),
    end,
  });
  const menu = [
    ...(person.mayRun ? [{ label: "Rename…", icon: "pencil" as const, onChoose: () => setRenaming(true) }] : []),
    ...(page.session.current.fork ? [{ label: `Fork from v${session.version}…`, icon: "fork" as const, onChoose: () => setAsk({ fork: session.version }) }] : []),
    { label: "Copy link", icon: "share" as const, onChoose: () => void navigator.clipboard.writeText(location.href) },
    ...(person.mayRun ? [{ label: "Delete…", icon: "x" as const, onChoose: () => setAsk("delete") }] : []),
  ];
  return (
    <ChatContext value={chat}>
      <TopBar
        session={session}
        state={state}
        activeRun={live.activeRun}
        isolation={live.runtime?.sandbox?.isolation}
        costUSD={spent}
        budgetUSD={budget}
        menu={menu}
        renaming={renaming}
        panelOpen={panel}
        onRename={person.mayRun ? (name) => live.update({ name }) : null}
        onRenaming={setRenaming}
        onPanel={() => setPanel(!panel)}
      />
      <div className={`work ${(panel && Panel) || subagent ? "" : "no-panel"}`} data-wide={tab === "files" || tab === "versions" ? "" : undefined}>
        <section className="chat" aria-label="Conversation" data-session={sessionId}>
          <OfflineBar connection={live.connection} onRetry={live.retry} />
          <Conversation store={store} versions={versions} running={running}>
            {unstopped !== null && running && <p className="dlg-bad" role="alert">The run was not stopped: {unstopped} Stop it again.</p>}
            {mayRun ? (
              <Composer
                store={store}
                agentType={session.type}
                running={running}
                stopping={stopping !== null && stopping === live.activeRun?.runId}
                queued={live.queue}
                spending={live.spending}
                picker={<ModelPicker session={session} model={live.spending.model} mayChange={mayRun} />}
                onStop={stop}
                onSent={() => end.current()}
              />
            ) : (
              <div className="comp read-only">{live.ended === null ? "This link is for reading only." : `This session has ended: ${live.ended}`}</div>
            )}
          </Conversation>
        </section>
        {subagent ? <Thread conversationId={subagent} onClose={() => navigate(sessionPath(sessionId, tab))} /> : panel && Panel && <Panel sessionId={sessionId} tab={tab ?? "artifacts"} onTab={showTab} onClose={() => setPanel(false)} />}
      </div>
      {ask !== null && typeof ask === "object" && "fork" in ask && <ForkDialog session={session} version={ask.fork} onClose={() => setAsk(null)} />}
      {ask === "delete" && (
        <Confirm title={`Delete “${nameOf(session)}”?`} action="Delete" onClose={() => setAsk(null)} onConfirm={async () => { await client.eraseSession(sessionId); navigate("/"); }}>
          Its conversation, its versions and its files are removed for good. Forks of it stay.
        </Confirm>
      )}
      {ask !== null && typeof ask === "object" && "back" in ask && (
        <Confirm title={`Go back to v${ask.back}?`} action={`Back to v${ask.back}`} onClose={() => setAsk(null)} onConfirm={() => client.restore(sessionId, ask.back)}>
          The files become those of v{ask.back}, as a new version. What there is now is kept as a version before.
        </Confirm>
      )}
    </ChatContext>
  );
}

/** Versions as the conversation shows them: those that are listed, as far back as its blocks, and those just made. */
function useVersionFacts(sessionId: string): readonly VersionFact[] {
  const since = useLive(sessionId, ["order:main", "status"], (live) => live.state.main.values()[0]?.timestamp);
  const { versions } = useVersions(sessionId, { since: since === undefined ? Infinity : Date.parse(since) });
  const news = useLive(sessionId, ["versions"], (live) => live.state.versions.values());
  const ran = useLive(sessionId, ["runs"], (live) => live.state.runs.values());
  const { runs } = useWarrenClient().store(sessionId).state;
  return useMemo(() => {
    const all = new Map<number, VersionFact>();
    for (const one of news) all.set(one.version, { ...one, at: Date.parse(one.at) });
    for (const one of versions) all.set(one.version, { ...one, at: Date.parse(one.createdAt), costUSD: ownCost(one, versions) });
    return [...all.values()].map(({ version, cause, files, blocks, costUSD, at, seq, runId }) => {
      const run = runId === undefined ? undefined : runs.get(runId);
      const ms = run?.startedAt && run.endedAt ? Date.parse(run.endedAt) - Date.parse(run.startedAt) : undefined;
      return { version, cause, files, blocks, costUSD: costUSD ?? run?.costUSD, at, seq, runId, ms };
    });
  }, [versions, news, ran]);
}

/** The same object for as long as the page lives, with what is current inside: rows need not be drawn anew for it. */
function useStable(next: Chat): Chat {
  const kept = useRef<Chat>(next);
  const changed = (["agentName", "waitingIn", "held"] as const).some((key) => kept.current[key] !== next[key])
    || (["answer", "withdraw", "fork", "again", "back"] as const).some((key) => (kept.current[key] === null) !== (next[key] === null));
  if (changed) kept.current = next;
  else Object.assign(kept.current, next);
  return kept.current;
}

function Loading() {
  return (
    <>
      <header className="top">
        <Burger />
        <h1 className="muted">Loading…</h1>
      </header>
      <div className="work no-panel">
        <section className="chat" aria-label="Conversation" aria-busy="true">
          <div className="col"><Skeleton rows={8} height={44} /></div>
        </section>
      </div>
    </>
  );
}

function Missing({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const gone = error instanceof WarrenError && error.status === 404;
  return (
    <NoticePage title="Session">
      {gone ? (
        <Failed title="There is no such session" action={<Button look="line" onClick={() => navigate("/")}>Start a new one</Button>}>It was deleted, or it is not yours to see.</Failed>
      ) : (
        <Unread title="The session cannot be read" error={error} onAgain={onRetry}>Its agent goes on working.</Unread>
      )}
    </NoticePage>
  );
}

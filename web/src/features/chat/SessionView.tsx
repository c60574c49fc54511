import { useAgentSession, useLive, useWarrenClient } from "@warren/react";
import { useMemo, useRef, useState } from "react";
import { toComposer } from "~/lib/focus";
import { navigate, sessionPath, type Tab } from "~/lib/router";
import type { State } from "~/ui/Dot";
import { Composer } from "../composer/Composer";
import { ModelPicker } from "../composer/ModelPicker";
import { changeDraft } from "../composer/useDraft";
import { OfflineBar } from "../shell/OfflineBar";
import { Panel } from "../shell/parts";
import { usePerson } from "../shell/person";
import { TopBar } from "../shell/TopBar";
import { usePageTitle } from "../shell/usePageTitle";
import { nameOf } from "../sessions/families";
import { ChatDialogs, type Asked } from "./ChatDialogs";
import { ChatContext } from "./context";
import { Conversation } from "./Conversation";
import { Thread } from "./Thread";
import { useChatValue } from "./useChatValue";
import { useFocusAfterPanel } from "./useFocusAfterPanel";
import { useNews } from "./useNews";
import { usePanelOpen } from "./usePanelOpen";
import { useRunControl } from "./useRunControl";
import { useSessionCommands } from "./useSessionCommands";
import { useStopHint } from "./useStopHint";
import { useVersionFacts } from "./useVersionFacts";

type Props = { sessionId: string; tab: Tab | null; subagent: string | null };

/** One session: its bar, its conversation, its panel. */
export function SessionView({ sessionId, tab, subagent }: Props) {
  const person = usePerson();
  const store = useWarrenClient().store(sessionId);
  const live = useAgentSession(sessionId);
  const session = live.session!;
  const versions = useVersionFacts(sessionId);
  const control = useRunControl(live);
  const [asked, setAsked] = useState<Asked>(null);
  const [renaming, setRenaming] = useState(false);
  const [finding, setFinding] = useState(false);
  const [panel, setPanel] = usePanelOpen(sessionId, tab);
  const [stopHint, hintStop] = useStopHint();
  const end = useRef<() => void>(() => {});
  const approvals = useLive(sessionId, ["approvals"], (one) => one.state.approvals.values());
  const open = useMemo(() => approvals.filter((one) => !one.resolution), [approvals]);
  const running = live.activeRun !== null;
  const mayRun = person.mayRun && live.ended === null;
  useNews(sessionId);
  usePageTitle(nameOf(session), open.length);
  useFocusAfterPanel(panel || subagent !== null);

  const showTab = (to: Tab) => {
    setPanel(true);
    navigate(sessionPath(sessionId, to));
  };
  const retry = () => {
    control.retry();
    end.current();
  };
  const edit = (runId: string | null, text: string) => {
    const base = runId === null ? undefined : store.state.runs.get(runId)?.baseVersion;
    changeDraft(sessionId, (draft) => ({ ...draft, text, edited: { baseVersion: base ?? null, restores: false } }));
    toComposer();
  };
  const chat = useChatValue({ store, session, approvals, open, mayRun, mayFork: person.mayRun, running, retry, edit, ask: setAsked, end });
  const { menu, commands } = useSessionCommands({
    store, session, running, showTab, hintStop,
    stop: mayRun && running ? control.stop : null,
    mayWrite: person.mayRun,
    followLive: () => end.current(),
    find: () => setFinding(true),
    rename: () => setRenaming(true),
    togglePanel: () => setPanel(!panel),
    ask: setAsked,
  });
  return (
    <ChatContext value={chat}>
      <TopBar
        session={session}
        state={stateOf(open.length, running, live)}
        activeRun={live.activeRun}
        isOffline={live.connection.state === "offline"}
        isolation={live.runtime?.sandbox?.isolation}
        costUSD={live.spending.costUSD}
        budgetUSD={budgetOf(session.options)}
        menu={menu}
        renaming={renaming}
        panelOpen={panel}
        onRename={person.mayRun ? (name) => live.update({ name }) : null}
        onRenaming={setRenaming}
        onPanel={() => setPanel(!panel)}
      />
      <div className={`work ${(panel && Panel) || subagent ? "" : "no-panel"}`}>
        <section className="chat" aria-label="Conversation" data-session={sessionId}>
          <OfflineBar connection={live.connection} running={running} onRetry={live.retry} />
          <Conversation store={store} versions={versions} running={running} finding={finding} onFound={() => setFinding(false)}>
            {control.problem !== null && <p className="dlg-bad" role="alert">The run was not stopped: {control.problem} Press Stop again.</p>}
            {mayRun ? (
              <Composer
                store={store}
                agentType={session.type}
                running={running}
                stopping={control.isStopping}
                stopHint={stopHint && running}
                queued={live.queue}
                queueHeld={live.queueHeld}
                spending={live.spending}
                picker={<ModelPicker session={session} model={live.spending.model} mayChange={mayRun} />}
                commands={commands}
                onStop={control.stop}
                onSent={() => end.current()}
              />
            ) : (
              <div className="comp read-only">{live.ended === null ? "You have read-only access." : `This session has ended: ${live.ended}`}</div>
            )}
          </Conversation>
        </section>
        {subagent ? <Thread conversationId={subagent} onClose={() => navigate(sessionPath(sessionId, tab))} /> : panel && Panel && <Panel sessionId={sessionId} tab={tab ?? "artifacts"} onTab={showTab} onClose={() => setPanel(false)} />}
      </div>
      <ChatDialogs session={session} asked={asked} onClose={() => setAsked(null)} />
    </ChatContext>
  );
}

/** What the session does, as far as this page knows. */
function stateOf(waiting: number, running: boolean, live: ReturnType<typeof useAgentSession>): State {
  if (waiting > 0) return "wait";
  if (running) return live.runtime?.sandbox?.status === "starting" ? "boot" : "run";
  return live.lastRun?.status === "failed" ? "fail" : "idle";
}

const budgetOf = (options: unknown): number | null => (options as { budget?: { costUsd?: number } } | undefined)?.budget?.costUsd ?? null;

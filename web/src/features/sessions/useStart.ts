import { useResource, useWarrenClient, type SessionListItem } from "@warren/react";
import { useRef, useSyncExternalStore, useState } from "react";
import { awaitComposer } from "~/lib/focus";
import { saidWithHint } from "~/lib/problem";
import { navigate, sessionPath } from "~/lib/router";
import { agentName } from "~/ui/AgentMark";
import type { Effort } from "../composer/EffortMenu";
import type { Chosen } from "../composer/ModelDialog";
import { contentOf } from "../composer/Composer";
import { changeDraft, NEW_SESSION, useDraft } from "../composer/useDraft";
import type { Attached } from "./attached";

/** What was chosen for the next session. Kept while the page is open: whoever looks elsewhere finds it as it was. */
type Choices = { agent: string; model: Chosen | null; effort: Effort; profile: string | null; budget: number | null; asks: boolean; name: string; files: readonly Attached[] };

const AGENT = "warren.agent";
const fresh = (): Choices => ({ agent: localStorage.getItem(AGENT) ?? "builtin", model: null, effort: null, profile: null, budget: null, asks: false, name: "", files: [] });

let choices: Choices | null = null;
const watchers = new Set<() => void>();
const read = (): Choices => (choices ??= fresh());
const change = (changes: Partial<Choices>) => {
  choices = { ...read(), ...changes };
  watchers.forEach((watcher) => watcher());
};
const watch = (watcher: () => void) => {
  watchers.add(watcher);
  return () => void watchers.delete(watcher);
};

export type Start = ReturnType<typeof useStart>;

/** The next session: what it will be, and how to start it. */
export function useStart() {
  const client = useWarrenClient();
  const agents = useResource("agents", client.agents);
  const chosen = useSyncExternalStore(watch, read);
  const [draft] = useDraft(NEW_SESSION);
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState<string | null>(null);
  const made = useRef<{ key: string; session: SessionListItem } | null>(null);
  const offered = (agents.data?.agents ?? []).filter((item) => item.isAgent && item.name !== "acp");
  const agent = offered.find((item) => item.name === chosen.agent) ?? offered[0];
  const { text } = draft;
  const { files } = chosen;
  const held = files.find((one) => one.upload.state === "taken")?.upload;
  const isReady = agent !== undefined && busy === null && held === undefined && (text.trim() !== "" || files.length > 0);
  const start = async () => {
    if (!isReady) return;
    setProblem(null);
    try {
      if (!agent.ready) {
        setBusy(`Installing ${agentName(agent.name)}…`);
        await client.installAgent(agent.name);
      }
      setBusy("Starting…");
      const wish = {
        type: agent.name,
        agentProfileReference: chosen.profile ?? undefined,
        // Without a name the server takes one from the first message.
        name: chosen.name.trim() || undefined,
        options: { model: chosen.model?.id || undefined, effort: (agent.hasEffort && chosen.effort) || undefined, budget: chosen.budget === null ? undefined : { costUsd: chosen.budget }, permissionMode: chosen.asks ? ("ask" as const) : undefined },
      };
      // One that was made before its files could be uploaded is used again: nobody asked for two.
      const key = JSON.stringify(wish);
      const session = made.current?.key === key ? made.current.session : await client.createSession(wish);
      made.current = { key, session };
      const sent = files.length ? await client.upload(session.sessionId, files.map((one) => one.file)) : { files: [] };
      localStorage.setItem(AGENT, agent.name);
      navigate(sessionPath(session.sessionId));
      awaitComposer(session.sessionId);
      // What becomes of the message is shown in the conversation.
      client.store(session.sessionId).send(contentOf(text, sent.files.map((file) => file.path))).catch(() => {});
      choices = null;
      changeDraft(NEW_SESSION, () => ({ text: "", uploads: [] }));
    } catch (error) {
      setProblem(saidWithHint(error));
      setBusy(null);
    }
  };
  return {
    ...chosen,
    text,
    agent,
    agents: offered,
    held,
    isReady,
    busy,
    problem,
    start,
    change,
    isLoading: agents.state === "loading",
    unread: agents.state === "failed" ? agents.error : null,
    reread: agents.refresh,
    // Another agent may not have the model.
    chooseAgent: (name: string) => change(name === read().agent ? {} : { agent: name, model: null }),
    setText: (next: string) => changeDraft(NEW_SESSION, (old) => ({ ...old, text: next })),
    setFiles: (next: (files: readonly Attached[]) => readonly Attached[]) => change({ files: next(read().files) }),
  };
}

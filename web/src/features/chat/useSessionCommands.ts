import { useResource, useWarrenClient, type SessionListItem, type SessionStore } from "@warren/react";
import type { Tab } from "~/lib/router";
import { toast } from "~/ui/toasts";
import type { MenuItem } from "~/ui/Menu";
import { said } from "~/lib/problem";
import type { SlashCommand } from "../composer/useSuggestions";
import { exportSession } from "../sessions/exportSession";
import { nameOf } from "../sessions/families";
import { isArchived, isPinned, setMark } from "../sessions/marks";
import { usePage } from "../shell/page";
import type { Asked } from "./ChatDialogs";
import { useSessionActions } from "./useSessionActions";

type Given = {
  store: SessionStore;
  session: SessionListItem;
  running: boolean;
  mayWrite: boolean;
  /** Nothing while there is no run that this person may stop. */
  stop: (() => void) | null;
  hintStop: () => void;
  followLive: () => void;
  find: () => void;
  rename: () => void;
  togglePanel: () => void;
  showTab: (tab: Tab) => void;
  ask: (asked: Asked) => void;
};

/** Everything a person can do with the session in view: as its menu, as slash commands, and for keys and the palette. */
export function useSessionCommands(given: Given): { menu: MenuItem[]; commands: SlashCommand[] } {
  const { store, session, running, mayWrite, stop, ask } = given;
  const page = usePage();
  const { sessionId, version } = session;
  const profileCommands = useProfileCommands(session);
  const fork = mayWrite && version > 0 ? () => ask({ about: "fork", version }) : null;
  const rename = mayWrite ? given.rename : null;
  const remove = mayWrite ? () => ask({ about: "delete" }) : null;
  const failed = (what: string) => (error: unknown) => toast({ title: what, text: said(error), icon: "alert", warn: true });
  const exportAs = (form: "markdown" | "json") => void exportSession(store.client, session, form).catch(failed("The session was not exported"));
  const mark = (name: "pinned" | "archived", on: boolean) => void setMark(store.client, session, name, on).catch(failed("The session was not changed"));
  useSessionActions({
    sessionId, version, running, stop, fork, rename, remove,
    name: nameOf(session),
    hintStop: given.hintStop,
    followLive: given.followLive,
    find: given.find,
    exportAs,
    showTab: given.showTab,
    togglePanel: given.togglePanel,
    compare: () => given.showTab("versions"),
  });
  const menu: MenuItem[] = [
    ...(rename ? [{ label: "Rename…", icon: "pencil" as const, onChoose: rename }] : []),
    ...(mayWrite ? [{ label: isPinned(session) ? "Unpin" : "Pin", icon: "pin" as const, onChoose: () => mark("pinned", !isPinned(session)) }] : []),
    { label: "Find in conversation", icon: "search", onChoose: given.find },
    ...(fork ? [{ label: `Fork from v${version}…`, icon: "fork" as const, onChoose: fork }] : []),
    { label: "Copy link", icon: "share", onChoose: () => void navigator.clipboard.writeText(location.href) },
    { label: "Export as Markdown", icon: "dl", onChoose: () => exportAs("markdown") },
    { label: "Export as JSON", icon: "dl", onChoose: () => exportAs("json") },
    ...(mayWrite ? [{ label: isArchived(session) ? "Move out of the archive" : "Archive", icon: "archive" as const, onChoose: () => mark("archived", !isArchived(session)) }] : []),
    ...(remove ? [{ label: "Delete…", icon: "x" as const, onChoose: remove }] : []),
  ];
  const commands: SlashCommand[] = [
    ...profileCommands,
    ...(stop ? [{ name: "stop", note: "Stop the run", run: stop }] : []),
    { name: "new", note: "New session", run: () => page.startNew() },
    ...(rename ? [{ name: "rename", note: "Rename the session", run: rename }] : []),
    ...(fork ? [{ name: "fork", note: "Fork from the latest version", run: fork }] : []),
    { name: "find", note: "Find in the conversation", run: given.find },
    { name: "export", note: "Export as Markdown", run: () => exportAs("markdown") },
    { name: "files", note: "Show the files", run: () => given.showTab("files") },
    { name: "versions", note: "Show the versions", run: () => given.showTab("versions") },
    { name: "help", note: "Keyboard shortcuts", run: page.openKeys },
  ];
  return { menu, commands };
}

/** Prompts with a name that the session's profile brings; the agent reads them. */
function useProfileCommands(session: SessionListItem): SlashCommand[] {
  const client = useWarrenClient();
  const profiles = useResource("profiles", client.profiles);
  const profile = profiles.data?.profiles.find((one) => one.id === session.agentProfileReference);
  return (profile?.commands ?? []).map(({ name, description }) => ({ name, note: description ?? "Command of the profile", run: null }));
}

import { useMemo, useRef, useState, type RefObject } from "react";
import { navigate, sessionPath, useRoute, type Route } from "~/lib/router";
import { Button } from "~/ui/Button";
import { Guard } from "~/ui/Guard";
import { Icon } from "~/ui/Icon";
import type { IconName } from "~/ui/IconSprite";
import { Failed } from "~/ui/Notice";
import { Toasts } from "~/ui/toasts";
import { ChatPage } from "../chat/ChatPage";
import { Palette } from "../palette/Palette";
import { changeDraft, NEW_SESSION } from "../composer/useDraft";
import { Sidebar } from "../sessions/Sidebar";
import { StartPage } from "../sessions/StartPage";
import { KeysDialog } from "./KeysDialog";
import { asPage, NoticePage } from "./NoticePage";
import { PageContext, type Page } from "./page";
import { BoardPage, DoctorPage, OverviewPage, SettingsPage } from "./parts";
import { useAnnouncer } from "./useAnnouncer";
import { useKeys } from "./useKeys";
import { useOthersNeedYou } from "./useOthersNeedYou";

/** The page around everything: sessions at the left, what the address says at the right. */
export function Shell() {
  const route = useRoute();
  const [overlay, setOverlay] = useState<"palette" | "keys" | null>(null);
  const [drawer, setDrawer] = useState(false);
  const [started, setStarted] = useState(0);
  const [spoken, announce] = useAnnouncer();
  const order = useRef<Page["order"]["current"]>([]);
  const session = useRef<Page["session"]["current"]>(null);
  const page = useMemo((): Page => ({
    openPalette: () => setOverlay((open) => (open === "palette" ? null : "palette")),
    openKeys: () => setOverlay("keys"),
    startNew: (text) => {
      if (text !== undefined) changeDraft(NEW_SESSION, (draft) => ({ ...draft, text }));
      navigate("/");
      setStarted((n) => n + 1);
    },
    toggleDrawer: () => setDrawer((open) => !open),
    announce,
    order: order as RefObject<Page["order"]["current"]>,
    session,
  }), [announce]);
  useKeys(page);
  useOthersNeedYou(route.at === "session" ? route.sessionId : null);
  return (
    <PageContext value={page}>
      <a className="vh skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById("main")?.focus(); }}>Skip to the conversation</a>
      <div className="app" data-drawer={drawer ? "" : undefined} onClick={(event) => (event.target as Element).closest("a.ses, .nav.ov") && setDrawer(false)}>
        <Sidebar />
        {drawer && <button type="button" className="drawer-scrim" aria-label="Close the sessions" onClick={() => setDrawer(false)} />}
        <main className="main" id="main" tabIndex={-1}>
          <Guard key={route.at === "session" ? route.sessionId : route.at} frame={asPage("Warren")}>
            <View key={route.at === "home" ? `home ${started}` : route.at} route={route} />
          </Guard>
          <MobileBar route={route} />
        </main>
      </div>
      {overlay === "palette" && <Palette onClose={() => setOverlay(null)} />}
      {overlay === "keys" && <KeysDialog onClose={() => setOverlay(null)} />}
      <div className="vh" role="status" aria-live="polite">{spoken}</div>
      <Toasts />
    </PageContext>
  );
}

function View({ route }: { route: Route }) {
  switch (route.at) {
    case "home":
      return <StartPage />;
    case "board":
      return BoardPage ? <BoardPage /> : <Nowhere />;
    case "session":
      return <ChatPage key={route.sessionId} sessionId={route.sessionId} tab={route.tab} subagent={route.subagent} />;
    case "overview":
      return OverviewPage ? <OverviewPage /> : <Nowhere />;
    case "doctor":
      return DoctorPage ? <DoctorPage /> : <Nowhere />;
    case "settings":
      return SettingsPage ? <SettingsPage /> : <Nowhere />;
    case "unknown":
      return <Nowhere />;
  }
}

function Nowhere() {
  return (
    <NoticePage title="Page not found">
      <Failed title="Page not found" action={<Button look="line" onClick={() => navigate("/")}>Start a session</Button>}>Check the address.</Failed>
    </NoticePage>
  );
}

/** Switches views on narrow screens. */
function MobileBar({ route }: { route: Route }) {
  const id = route.at === "session" ? route.sessionId : null;
  const tab = route.at === "session" ? route.tab : null;
  const item = (label: string, icon: IconName, to: string, on: boolean) => (
    <button type="button" aria-current={on ? "page" : undefined} disabled={id === null && label !== "Overview" && label !== "Chat"} onClick={() => navigate(to)}>
      <Icon name={icon} />
      {label}
    </button>
  );
  return (
    <nav className="mob" aria-label="Views">
      {item("Chat", "chat", id ? sessionPath(id) : "/", (id !== null && tab === null) || route.at === "home")}
      {item("Artifacts", "app", id ? sessionPath(id, "artifacts") : "/", tab === "artifacts")}
      {item("Files", "folder", id ? sessionPath(id, "files") : "/", tab === "files")}
      {item("Versions", "fork", id ? sessionPath(id, "versions") : "/", tab === "versions")}
      {item("Overview", "chart", "/overview", route.at === "overview" || route.at === "doctor")}
    </nav>
  );
}

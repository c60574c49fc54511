import type { ComponentType, ReactNode } from "react";
import type { Tab } from "~/lib/router";
import { lazily } from "~/ui/lazily";
import { Skeleton } from "~/ui/Notice";
import { asPage } from "./NoticePage";

export type PanelProps = { sessionId: string; tab: Tab; onTab: (tab: Tab) => void; onClose: () => void };

// Parts that are loaded when they are first shown. A build without one of them does not offer it.
const found = import.meta.glob<Record<string, ComponentType<never>>>(["../panel/Panel.tsx", "../board/BoardPage.tsx", "../overview/OverviewPage.tsx", "../overview/DoctorPage.tsx", "../settings/SettingsPage.tsx"]);

function part<P extends object>(path: string, name: string, frame: (notice: ReactNode) => ReactNode, meanwhile?: ReactNode): ComponentType<P> | null {
  const load = found[path];
  if (!load) return null;
  return lazily(async () => (await load())[name] as unknown as ComponentType<P>, meanwhile, frame);
}

const inPanel = (notice: ReactNode) => <aside className="panel" aria-label="Panel"><div className="panel-head" />{notice}</aside>;

/** What a session made: artifacts, files, versions, activity. */
export const Panel = part<PanelProps>("../panel/Panel.tsx", "Panel", inPanel, <aside className="panel" aria-label="Panel" aria-busy="true"><div className="panel-head" /><Skeleton rows={6} /></aside>);
export const BoardPage = part<object>("../board/BoardPage.tsx", "BoardPage", asPage("Board"));
export const OverviewPage = part<object>("../overview/OverviewPage.tsx", "OverviewPage", asPage("Overview"));
export const DoctorPage = part<object>("../overview/DoctorPage.tsx", "DoctorPage", asPage("Doctor"));
export const SettingsPage = part<object>("../settings/SettingsPage.tsx", "SettingsPage", asPage("Settings"));

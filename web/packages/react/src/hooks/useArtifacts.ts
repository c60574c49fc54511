import { useMemo } from "react";
import type { Artifact } from "../wire/contract";
import { useWarrenClient } from "../provider";
import { useLive } from "./live";
import { useResource } from "./useResource";

/** The artifacts of a session, read once and kept up to date by its events, and the ports that are open. */
export function useArtifacts(sessionId: string) {
  const client = useWarrenClient();
  const listed = useResource(`artifacts ${sessionId}`, () => client.artifacts(sessionId));
  const news = useLive(sessionId, ["artifacts"], (store) => store.state.artifacts.values());
  const ports = useLive(sessionId, ["artifacts"], (store) => store.state.ports.values());
  const stamp = useLive(sessionId, ["artifacts"], (store) => store.state.gone.values());
  const artifacts = useMemo(
    () => merged(listed.data?.artifacts ?? [], news, stamp),
    [listed.data, news, stamp],
  );
  return { ...listed, artifacts, ports };
}

/** What was listed, with what events said since then put over it. */
export function merged(listed: readonly Artifact[], news: readonly Artifact[], gone: readonly string[]): readonly Artifact[] {
  const all = new Map(listed.map((artifact) => [artifact.id, artifact]));
  for (const artifact of news) all.set(artifact.id, { ...all.get(artifact.id), ...artifact });
  for (const id of gone) all.delete(id);
  return [...all.values()];
}

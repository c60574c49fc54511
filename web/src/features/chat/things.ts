/** Which artifacts belong to which version of a session. Pure. */
import type { Artifact } from "@warren/react";

/** An artifact as the conversation shows it where it was made or changed. */
export type Thing = { id: string; name: string; kind: Artifact["kind"]; is: "new" | "changed" };

type Version = { version: number; seq: number };

/** What was made or changed, by the version that first kept it. What no version keeps yet is beside the conversation only. */
export function madeIn(artifacts: readonly Artifact[], versions: readonly Version[]): Map<number, Thing[]> {
  const inOrder = [...versions].filter((one) => one.version > 0).sort((a, b) => a.seq - b.seq);
  // An event tells its number and not the version that will keep it, so the number decides where the server said nothing.
  const keeping = (version: number | null | undefined, seq: number | null | undefined) =>
    version ?? (seq == null ? undefined : inOrder.find((one) => one.seq >= seq)?.version);
  const all = new Map<number, Thing[]>();
  const put = (version: number, artifact: Artifact, is: Thing["is"]) =>
    all.set(version, [...(all.get(version) ?? []), { id: artifact.id, name: artifact.name, kind: artifact.kind, is }]);
  for (const artifact of artifacts) {
    const created = keeping(artifact.createdVersion, artifact.createdSeq);
    const updated = keeping(artifact.updatedVersion, artifact.updatedSeq);
    if (created !== undefined) put(created, artifact, "new");
    if (updated !== undefined && updated !== created) put(updated, artifact, "changed");
  }
  return all;
}

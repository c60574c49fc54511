import { useResource, useVersions, useWarrenClient, type Artifact } from "@warren/react";
import { Fragment } from "react";

const MOST = 6;

/** The versions in which an artifact changed, on the line. */
export function VersionStrip({ sessionId, artifact }: { sessionId: string; artifact: Artifact }) {
  const client = useWarrenClient();
  const { versions } = useVersions(sessionId);
  const changed = useResource(
    `artifact versions ${sessionId} ${artifact.id}`,
    () => client.json<{ versions: { version: number }[] }>(`/api/sessions/${encodeURIComponent(sessionId)}/artifacts/${encodeURIComponent(artifact.id)}/versions`),
    `${versions[0]?.version ?? 0} ${artifact.hash ?? ""}`,
  );
  const numbers = versions.map((version) => version.version).filter((n) => n > 0).slice(0, MOST).reverse();
  const known = changed.data?.versions.map((version) => version.version) ?? [artifact.createdVersion, artifact.updatedVersion];
  const has = new Set(known.filter((n): n is number => typeof n === "number"));
  // An event tells its number and not the version that will keep it: one made since then does.
  const changedAt = artifact.updatedSeq ?? artifact.createdSeq ?? Infinity;
  const isNewer = (artifact.updatedVersion ?? artifact.createdVersion) == null && !versions.some((version) => version.seq >= changedAt);
  if (numbers.length === 0 && !isNewer) return <div className="strip" />;
  const label = `Changed in ${[...has].map((n) => `v${n}`).join(", ") || "no version yet"}${isNewer ? ", and not saved yet" : ""}`;
  return (
    <div className="strip num" role="img" aria-label={label}>
      {numbers.map((n, at) => (
        <Fragment key={n}>
          {at > 0 && <span className="ln" />}
          <span className={`pt ${has.has(n) ? "" : "no"}`} />
          <span className="lb">v{n}</span>
        </Fragment>
      ))}
      {isNewer && (
        <>
          {numbers.length > 0 && <span className="ln" />}
          <span className="pt live" />
          <span className="lb"><b>now</b> · not saved yet</span>
        </>
      )}
    </div>
  );
}

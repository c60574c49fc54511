import { useResource, useWarrenClient, type AgentProfile } from "@warren/react";
import { useState } from "react";
import { plural } from "~/lib/format";
import { Button } from "~/ui/Button";
import { Confirm } from "~/ui/Confirm";
import { Empty, Skeleton, Unread } from "~/ui/Notice";
import { usePerson } from "../shell/person";
import { mayWriteProfile } from "./profile";
import { ProfileEditor } from "./ProfileEditor";

/** What agents are given. */
export function ProfilesBox() {
  const client = useWarrenClient();
  const { scope, mayRun } = usePerson();
  const list = useResource("profiles", () => client.profiles());
  const [open, setOpen] = useState<AgentProfile | "new" | null>(null);
  const [removing, setRemoving] = useState<AgentProfile | null>(null);
  const profiles = list.data?.profiles ?? [];
  const mayWrite = (profile: AgentProfile) => mayWriteProfile(scope, profile);
  return (
    <div className="box">
      <div className="h"><h2 className="grow">Profiles</h2>{mayRun && <Button look="line" icon="plus" onClick={() => setOpen("new")}>New profile</Button>}</div>
      {list.state === "loading" && <Skeleton rows={3} height={38} />}
      {list.state === "failed" && !list.data && <Unread title="The profiles could not be loaded" error={list.error} onAgain={list.refresh} />}
      {list.data && profiles.length === 0 && <Empty icon="list">No profiles yet. A profile gives an agent instructions, skills, commands, tools and files.</Empty>}
      <ul className="al">
        {profiles.map((profile) => (
          <li key={`${profile.projectId ?? ""} ${profile.id}`}>
            <b><bdi>{profile.name || profile.id}</bdi></b>
            {profile.projectId && <span className="muted cut" title={`Only for project ${profile.projectId}`}>project <bdi className="mono">{profile.projectId}</bdi></span>}
            <span className="muted cut"><bdi>{profile.description || summary(profile)}</bdi></span>
            <span className="rt">
              <Button onClick={() => setOpen(profile)}>{mayWrite(profile) ? "Edit" : "Show"}</Button>
              {mayWrite(profile) && profile.id !== "default" && <Button aria-label={`Remove ${profile.name || profile.id}`} icon="x" onClick={() => setRemoving(profile)} />}
            </span>
          </li>
        ))}
      </ul>
      {open && <ProfileEditor profile={open === "new" ? null : open} mayWrite={open === "new" ? mayRun : mayWrite(open)} onClose={() => setOpen(null)} onSaved={() => { setOpen(null); void list.refresh(); }} />}
      {removing && (
        <Confirm title={`Remove ${removing.name || removing.id}?`} action="Remove" onClose={() => setRemoving(null)} onConfirm={async () => { await client.deleteProfile(removing.id ?? "", removing.projectId); await list.refresh(); }}>
          Sessions that use it continue without a profile.
        </Confirm>
      )}
    </div>
  );
}

function summary(profile: AgentProfile): string {
  const hosts = profile.egressAllow?.length ?? 0;
  const variables = Object.keys(profile.environmentVariables ?? {}).length;
  const mcp = (profile.externalMCPs?.length ?? 0) + (profile.bundledMCPs?.length ?? 0);
  const parts = [
    profile.model ? `model ${profile.model}` : "",
    profile.skills?.length ? plural(profile.skills.length, "skill") : "",
    profile.subagents?.length ? plural(profile.subagents.length, "subagent") : "",
    profile.commands?.length ? plural(profile.commands.length, "command") : "",
    profile.systemPrompt || profile.agentMDFile ? "instructions" : "",
    mcp ? plural(mcp, "MCP server") : "",
    hosts ? plural(hosts, "allowed host") : "",
    variables ? plural(variables, "variable") : "",
  ].filter(Boolean);
  return parts.join(", ") || "Agent defaults";
}

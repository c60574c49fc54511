import { useResource, useWarrenClient, type TokenCreated } from "@warren/react";
import { useState, type FormEvent } from "react";
import { said } from "~/lib/problem";
import { Button } from "~/ui/Button";
import { Dialog } from "~/ui/Dialog";

const LIVES = [["1", "in 1 day"], ["30", "in 30 days"], ["365", "in 1 year"], ["", "never"]] as const;

/** Projects have no names yet; the first digits tell them apart. */
const projectName = (id: string): string => (/^0{8}-/.test(id) || id === "default" ? "the default project" : `project ${id.slice(0, 8)}…`);

export function NewToken({ onClose, onMade }: { onClose: () => void; onMade: (made: TokenCreated) => void }) {
  const client = useWarrenClient();
  const sessions = useResource("projects of sessions", async () => (await client.sessions({ limit: 50 })).sessions);
  const projects = [...new Set((sessions.data ?? []).map((session) => session.projectId))];
  const [name, setName] = useState("");
  const [scope, setScope] = useState("admin:ro");
  const [days, setDays] = useState("30");
  const [failed, setFailed] = useState<string | null>(null);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setFailed(null);
    try {
      const expiresAt = days ? new Date(Date.now() + Number(days) * 86_400_000).toISOString() : undefined;
      onMade(await client.createToken({ name: name.trim(), scope, expiresAt }));
    } catch (error) {
      setFailed(said(error));
    }
  };
  return (
    <Dialog label="New token" onClose={onClose}>
      <form className="form" onSubmit={(event) => void submit(event)}>
        <h2>New token</h2>
        <label>Name<input className="inp-line" required maxLength={200} autoFocus placeholder="Used by, such as CI or Ada" value={name} onChange={(event) => setName(event.target.value)} /></label>
        <label>Permissions
          <select className="inp-line" value={scope} onChange={(event) => setScope(event.target.value)}>
            <option value="admin:ro">Read everything</option>
            <option value="admin">Full access</option>
            {projects.flatMap((project) => [<option key={project} value={`project:${project}`}>Work in {projectName(project)}</option>, <option key={`${project}:ro`} value={`project:${project}:ro`}>Read {projectName(project)}</option>])}
          </select>
        </label>
        <label>Expires<select className="inp-line" value={days} onChange={(event) => setDays(event.target.value)}>{LIVES.map(([value, label]) => <option key={value} value={value}>{label}</option>)}</select></label>
        {failed && <p className="dlg-bad" role="alert">{failed}</p>}
        <div className="dlg-acts"><Button look="line" onClick={onClose}>Cancel</Button><Button look="ink" type="submit">Create token</Button></div>
      </form>
    </Dialog>
  );
}

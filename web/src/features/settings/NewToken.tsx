import { useResource, useWarrenClient, type TokenCreated } from "@warren/react";
import { useState, type FormEvent } from "react";
import { Button } from "~/ui/Button";
import { Dialog } from "~/ui/Dialog";

const LIVES = [["", "never ends"], ["1", "one day"], ["30", "30 days"], ["365", "a year"]] as const;

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
      setFailed(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <Dialog label="New token" onClose={onClose}>
      <form className="form" onSubmit={(event) => void submit(event)}>
        <h2>New token</h2>
        <label>Name<input className="inp-line" required maxLength={200} autoFocus placeholder="Whose it is" value={name} onChange={(event) => setName(event.target.value)} /></label>
        <label>May
          <select className="inp-line" value={scope} onChange={(event) => setScope(event.target.value)}>
            <option value="admin:ro">read everything</option>
            <option value="admin">do everything</option>
            {projects.flatMap((project) => [<option key={project} value={`project:${project}`}>work in project {project}</option>, <option key={`${project}:ro`} value={`project:${project}:ro`}>read project {project}</option>])}
          </select>
        </label>
        <label>Ends<select className="inp-line" value={days} onChange={(event) => setDays(event.target.value)}>{LIVES.map(([value, label]) => <option key={value} value={value}>{label}</option>)}</select></label>
        {failed && <p className="dlg-bad" role="alert">{failed}</p>}
        <div className="dlg-acts"><Button look="line" onClick={onClose}>Cancel</Button><Button look="ink" type="submit">Make it</Button></div>
      </form>
    </Dialog>
  );
}

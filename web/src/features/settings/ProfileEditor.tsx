import { useWarrenClient, type AgentProfile } from "@warren/react";
import { useState, type FormEvent } from "react";
import { Button } from "~/ui/Button";
import { Dialog } from "~/ui/Dialog";
import { Segment } from "~/ui/Segment";
import { problemOfId, problemsOf, fromForm, linesOf, parseProfile, toForm, type ProfileForm } from "./profile";

type Props = { profile: AgentProfile | null; mayWrite: boolean; onClose: () => void; onSaved: () => void };

/** A profile as a form for what most people change, and as its whole JSON for everything. */
export function ProfileEditor({ profile, mayWrite, onClose, onSaved }: Props) {
  const client = useWarrenClient();
  const [id, setId] = useState(profile?.id ?? "");
  const [mode, setMode] = useState<"form" | "json">("form");
  const [whole, setWhole] = useState<AgentProfile>(profile ?? {});
  const [text, setText] = useState("");
  const [failed, setFailed] = useState<string | null>(null);
  const form = toForm(whole);
  const set = (changes: Partial<ProfileForm>) => setWhole(fromForm(whole, { ...form, ...changes }));
  const read = (): AgentProfile => (mode === "json" ? parseProfile(text) : whole);
  const change = (to: "form" | "json") => {
    try {
      const now = read();
      setWhole(now);
      setText(JSON.stringify(now, null, 2));
      setMode(to);
      setFailed(null);
    } catch (error) {
      setFailed(error instanceof Error ? error.message : String(error));
    }
  };
  const save = async (event: FormEvent) => {
    event.preventDefault();
    const wrong = [...(profile ? [] : [problemOfId(id)].filter((one) => one !== null)), ...(mode === "form" ? problemsOf(form) : [])];
    setFailed(wrong.length ? wrong.join(" ") : null);
    if (wrong.length) return;
    try {
      await client.putProfile(id, { ...read(), id });
      onSaved();
    } catch (error) {
      setFailed(error instanceof Error ? error.message : String(error));
    }
  };
  const disabled = !mayWrite;
  return (
    <Dialog label={profile ? `Profile ${profile.name ?? profile.id}` : "New profile"} className="dlg wide" onClose={onClose}>
      <form className="form" noValidate onSubmit={(event) => void save(event)}>
        <div className="row"><h2 className="grow">{profile ? (profile.name ?? profile.id) : "New profile"}</h2><Segment label="How to edit" value={mode} onChange={change} choices={[{ value: "form", label: "Form" }, { value: "json", label: "JSON" }]} /></div>
        {!profile && <label>ID<input className="inp-line mono" maxLength={64} placeholder="code-review" value={id} onChange={(event) => setId(event.target.value)} /></label>}
        {mode === "form" ? (
          <>
            <div className="cols">
              <label>Name<input className="inp-line" disabled={disabled} value={form.name} onChange={(event) => set({ name: event.target.value })} /></label>
              <label>Model<input className="inp-line mono" disabled={disabled} placeholder="Agent’s default" value={form.model} onChange={(event) => set({ model: event.target.value })} /></label>
            </div>
            <label>Description<input className="inp-line" disabled={disabled} value={form.description} onChange={(event) => set({ description: event.target.value })} /></label>
            <label>Instructions<textarea disabled={disabled} rows={6} value={form.systemPrompt} onChange={(event) => set({ systemPrompt: event.target.value })} /></label>
            <div className="cols">
              <label>Allowed hosts (one per line)<textarea disabled={disabled} className="mono" rows={3} placeholder="none" value={form.egressAllow.join("\n")} onChange={(event) => set({ egressAllow: linesOf(event.target.value) })} /></label>
              <label>Environment variables (NAME=value, one per line)<textarea disabled={disabled} className="mono" rows={3} value={form.environment.join("\n")} onChange={(event) => set({ environment: event.target.value.split("\n") })} /></label>
            </div>
            <p className="muted">Skills, subagents, commands, MCP servers, tools and files are edited as JSON. Put no secrets here: the agent can read its environment.</p>
          </>
        ) : (
          <label>Profile as JSON<textarea disabled={disabled} className="mono" rows={18} spellCheck={false} value={text} onChange={(event) => setText(event.target.value)} /></label>
        )}
        {failed && <p className="dlg-bad" role="alert">{failed}</p>}
        <div className="dlg-acts"><Button look="line" onClick={onClose}>{mayWrite ? "Cancel" : "Close"}</Button>{mayWrite && <Button look="ink" type="submit">Save</Button>}</div>
      </form>
    </Dialog>
  );
}

import { useWarrenClient, type ProviderItem } from "@warren/react";
import { useId, useState, type FormEvent } from "react";
import { said } from "~/lib/problem";
import { Button } from "~/ui/Button";
import { Dialog } from "~/ui/Dialog";

type Props = { provider: ProviderItem; onClose: () => void; onSaved: (provider: ProviderItem) => void };

/** The key and the base URL of a provider. */
export function KeyForm({ provider, onClose, onSaved }: Props) {
  const client = useWarrenClient();
  const help = useId();
  const { name, label, hasKey, isSet, baseUrl, keySource, variable } = provider;
  const [key, setKey] = useState("");
  const [url, setUrl] = useState(isSet ? baseUrl : "");
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setFailed(null);
    try {
      onSaved(await client.putProvider(name, { apiKey: key.trim() || undefined, baseUrl: url.trim() || undefined }));
    } catch (error) {
      setFailed(said(error));
      setBusy(false);
    }
  };
  const title = `${hasKey ? "Replace" : "Add"} the key of ${label}`;
  return (
    <Dialog label={title} onClose={onClose}>
      <form className="form" autoComplete="off" onSubmit={(event) => void submit(event)}>
        <h2>{title}</h2>
        <p className="sub" id={help}>
          It is stored encrypted on the server, counts from the next model call on, and is not shown again.
          {keySource === "environment" && ` It counts before ${variable}.`}
          {keySource === "config" && " It counts before the configuration."}
        </p>
        <label>API key<input className="inp-line mono" type="password" autoFocus autoComplete="off" spellCheck={false} maxLength={4096} aria-describedby={help} value={key} onChange={(event) => { setKey(event.target.value); setFailed(null); }} /></label>
        <label>Base URL<input className="inp-line mono" type="url" spellCheck={false} placeholder={isSet ? "" : baseUrl} value={url} onChange={(event) => { setUrl(event.target.value); setFailed(null); }} /></label>
        <p className="sub">Leave the base URL empty for the default. For a provider without keys, enter only the base URL.</p>
        {failed && <p className="dlg-bad" role="alert">{failed}</p>}
        <div className="dlg-acts">
          <Button look="line" onClick={onClose}>Cancel</Button>
          <Button look="ink" type="submit" disabled={busy || (key.trim() === "" && url.trim() === "")}>Save and test</Button>
        </div>
      </form>
    </Dialog>
  );
}

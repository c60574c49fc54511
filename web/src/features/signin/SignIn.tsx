import { isFinal, useWarrenClient, type WhoAmI } from "@warren/react";
import { useState, type FormEvent } from "react";
import { Button } from "~/ui/Button";
import { Icon } from "~/ui/Icon";
import { Mark } from "~/ui/Mark";

type Props = { onSignedIn: (who: WhoAmI) => void; why?: string };

/** Lets somebody in who has a token; the printed link needs no page. `why`: the server ended an earlier sign-in. */
export function SignIn({ onSignedIn, why }: Props) {
  const client = useWarrenClient();
  const [token, setToken] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setProblem(null);
    try {
      onSignedIn(await client.signIn(token.trim()));
    } catch (error) {
      setProblem(
        isFinal(error)
          ? "This token is unknown or has expired. Create a new one on the server with"
          : "The server cannot be reached. Is it running? It starts with",
      );
      setBusy(false);
    }
  };
  return (
    <main className="signin">
      <Lines />
      <form className="sbox" onSubmit={(event) => void submit(event)}>
        <Mark />
        <h1>Sign in to Warren</h1>
        {why !== undefined && (
          <div className="why" role="alert">
            <Icon name="alert" size="s" />
            <span>You were signed out: {why}</span>
          </div>
        )}
        <p className="sub">
          Paste a token, or run <code>warren open</code> on the server&rsquo;s machine for a one-time link.
        </p>
        <div className="field">
          <label htmlFor="tok">Token</label>
          <div className="inp">
            <Icon name="key" size="s" />
            <input id="tok" type="password" autoComplete="current-password" autoFocus spellCheck={false} value={token} onChange={(event) => setToken(event.target.value)} aria-describedby={problem ? "tokwhy" : undefined} aria-invalid={problem !== null} />
          </div>
          {problem && (
            <div className="why" id="tokwhy" role="alert">
              <Icon name="alert" size="s" />
              <span>
                {problem} <code>{problem.startsWith("The") ? "warren up" : "warren tokens create NAME"}</code>.
              </span>
            </div>
          )}
        </div>
        <Button type="submit" look="fill" large className="wide" disabled={busy || token.trim() === ""}>Sign in</Button>
        <p className="muted keeps">
          <Icon name="lock" size="s" />
          Kept in this browser, sent only to {location.hostname}.
        </p>
      </form>
    </main>
  );
}

/** The trail as a background. */
function Lines() {
  const chambers = [[270, 250], [130, 450], [480, 460], [960, 430], [1160, 310], [1340, 470], [1060, 240], [720, 70], [390, 760], [1110, 800], [720, 760]];
  return (
    <svg className="bgl" viewBox="0 0 1440 900" preserveAspectRatio="xMidYMid slice" aria-hidden="true">
      <path d="M-20 190H210q60 0 60 60v150q0 60 60 60h150" />
      <path d="M270 300h-90q-50 0-50 50v170q0 60 60 60h150q50 0 50 50v300" />
      <path d="M1460 250h-240q-60 0-60 60v60q0 60-60 60H960" />
      <path d="M1160 330h120q60 0 60 60v210q0 60-60 60h-120q-50 0-50 50v220" />
      <path d="M720 -20v90q0 60 60 60h220q60 0 60 60v50" />
      <path d="M720 920V760" />
      {chambers.map(([x, y]) => (
        <circle key={`${x} ${y}`} cx={x} cy={y} r="9" fill="var(--bg)" />
      ))}
    </svg>
  );
}

import { isFinal, soon, useWarrenClient, WarrenProvider, type WhoAmI } from "@warren/react";
import { useCallback, useEffect, useState, useSyncExternalStore } from "react";
import { Shell } from "~/features/shell/Shell";
import { PersonContext, personOf } from "~/features/shell/person";
import { SignIn } from "~/features/signin/SignIn";
import { Person } from "~/ui/Avatar";
import { IconSprite } from "~/ui/IconSprite";
import { Failed, TryAgain } from "~/ui/Notice";

/** The whole page. */
export function App() {
  return (
    <WarrenProvider>
      <IconSprite />
      <Door />
    </WarrenProvider>
  );
}

type Who = { is: "asking" } | { is: "stranger" } | { is: "known"; who: WhoAmI } | { is: "unreachable"; why: string };

/** Lets in those whom the server knows. */
function Door() {
  const client = useWarrenClient();
  const [who, setWho] = useState<Who>({ is: "asking" });
  const ask = useCallback(() => {
    return client.who().then(
      (known) => setWho({ is: "known", who: known }),
      (error: unknown) => setWho(isFinal(error) ? { is: "stranger" } : { is: "unreachable", why: error instanceof Error ? error.message : String(error) }),
    );
  }, [client]);
  useEffect(() => void ask(), [ask]);
  useEffect(() => (who.is === "unreachable" ? soon(() => void ask()) : undefined), [who, ask]);
  const out = useSyncExternalStore(client.signedOut.watch, client.signedOut.why);
  if (who.is === "asking") return null;
  if (who.is === "unreachable") {
    return (
      <main className="empty-in">
        <Failed title="The server does not answer" action={<TryAgain onAgain={ask} />}>{who.why} The page retries by itself.</Failed>
      </main>
    );
  }
  const letIn = (known: WhoAmI) => {
    client.signedOut.clear();
    setWho({ is: "known", who: known });
  };
  if (who.is === "stranger") return <SignIn onSignedIn={letIn} />;
  // What was read as somebody else must not stay.
  if (out) return <SignIn why={out.message} onSignedIn={() => location.reload()} />;
  const person = personOf(who.who);
  return (
    <PersonContext value={person}>
      <Person value={person.name}>
        <Shell />
      </Person>
    </PersonContext>
  );
}

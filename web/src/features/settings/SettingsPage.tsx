import { useWarrenClient } from "@warren/react";
import { useState } from "react";
import { setThemeChoice, useThemeChoice } from "~/lib/theme";
import { Button } from "~/ui/Button";
import { Segment } from "~/ui/Segment";
import { usePageTitle } from "../shell/usePageTitle";
import { usePerson } from "../shell/person";
import { Burger } from "../shell/TopBar";
import { KeysBox } from "./KeysBox";
import { ProfilesBox } from "./ProfilesBox";
import { TokensBox } from "./TokensBox";

/** The person, the model providers, the tokens, the profiles. */
export function SettingsPage() {
  const client = useWarrenClient();
  const person = usePerson();
  const theme = useThemeChoice();
  usePageTitle("Settings");
  const [failed, setFailed] = useState<string | null>(null);
  const signOut = async () => {
    try {
      await client.signOut();
      location.assign("/");
    } catch (error) {
      setFailed(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <>
      <header className="top"><Burger /><h1>Settings</h1></header>
      <section className="page" aria-label="Settings">
        <div className="ov-in">
          <div className="box">
            <div className="h"><h2 className="grow">You</h2></div>
            <ul className="al">
              <li><b className="whitespace-nowrap">Signed in as</b><span className="rt"><bdi>{person.name}</bdi> · {scopeWords(person.scope)} <Button look="line" onClick={() => void signOut()}>Sign out</Button></span></li>
              <li><b>Theme</b><span className="rt"><Segment label="Theme" value={theme} onChange={setThemeChoice} choices={[{ value: "system", label: "System" }, { value: "light", label: "Light" }, { value: "dark", label: "Dark" }]} /></span></li>
            </ul>
            {failed && <p className="dlg-bad m-3" role="alert">{failed}</p>}
          </div>
          {person.scope === "admin" && <KeysBox />}
          {person.scope === "admin" && <TokensBox />}
          <ProfilesBox />
        </div>
      </section>
    </>
  );
}

/** What a scope allows, in words. */
export function scopeWords(scope: string): string {
  if (scope === "admin") return "Full access";
  if (scope === "admin:ro") return "Read everything";
  const project = /^project:(.+?)(:ro)?$/.exec(scope);
  return project ? `${project[2] ? "Read" : "Work in"} project ${project[1]!.slice(0, 8)}` : scope;
}

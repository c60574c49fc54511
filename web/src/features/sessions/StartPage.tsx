import { useResource, useWarrenClient } from "@warren/react";
import { Icon } from "~/ui/Icon";
import { Mark } from "~/ui/Mark";
import { Unread } from "~/ui/Notice";
import { DEMO } from "../composer/models";
import { demoNotice, findingsOf } from "../overview/doctor";
import { backendOf } from "../shell/isolation";
import { usePerson } from "../shell/person";
import { Burger } from "../shell/TopBar";
import { usePageTitle } from "../shell/usePageTitle";
import { AgentPicker } from "./AgentPicker";
import { Ideas } from "./Ideas";
import { StartForm } from "./StartForm";
import { useStart } from "./useStart";

/** Where a session begins: pick an agent and say what you want. */
export function StartPage() {
  const person = usePerson();
  const client = useWarrenClient();
  const doctor = useResource("doctor", client.doctor);
  const start = useStart();
  usePageTitle("");
  const found = doctor.data && findingsOf(doctor.data);
  // A model that was chosen is answered by its provider or refused; the demo model answers only the default, and by its name.
  const isReal = start.model !== null && start.model.id !== DEMO;
  const notice = found && start.agent && !isReal ? demoNotice(start.agent.name, found) : null;
  return (
    <>
      <header className="top">
        <Burger />
        <h1>New session</h1>
        <span className="grow" />
        {found && (
          <a className="badge" href="/doctor">
            <Icon name="shield" />
            <span className="lab">{found.usable ? `${backendOf((doctor.data?.isolation as { isolation?: unknown }).isolation)} ready` : "no sandbox: see Doctor"}</span>
          </a>
        )}
      </header>
      <section className="page" aria-label="Start a session">
        <div className="empty-in">
          <div className="hero">
            <Mark />
            <h1>{person.mayRun ? "What shall we build?" : "Sessions"}</h1>
            <p>{person.mayRun ? "Pick an agent and describe the work. It runs in its own sandbox, without network or your secrets, and every step and version is kept." : "You have read-only access. Pick a session in the list to read it."}</p>
          </div>
          {person.mayRun && (
            <>
              <AgentPicker agents={start.agents} chosen={start.agent?.name} isLoading={start.isLoading} onChoose={start.chooseAgent} />
              <StartForm start={start} isFree={notice !== null} />
              {notice && (
                <p className="demo-note" role="note">
                  <Icon name="alert" size="s" />
                  <span>{notice}</span>
                </p>
              )}
              {start.problem && <p className="dlg-bad" role="alert">{start.problem}</p>}
              {start.unread !== null && <Unread title="The agents could not be loaded" error={start.unread} onAgain={start.reread} />}
              <Ideas onPick={start.setText} />
            </>
          )}
        </div>
      </section>
    </>
  );
}

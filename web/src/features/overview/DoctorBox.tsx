import { useResource, useWarrenClient } from "@warren/react";
import { plural } from "~/lib/format";
import { Button } from "~/ui/Button";
import { Icon } from "~/ui/Icon";
import { Failed, Skeleton } from "~/ui/Notice";
import { guardsOf } from "../shell/isolation";
import { hintsOf } from "./doctor";

/** What this machine can give its sandboxes, and what would make it better. */
export function DoctorBox() {
  const client = useWarrenClient();
  const found = useResource("doctor", () => client.doctor());
  const hints = hintsOf(found.data);
  const guards = guardsOf(found.data?.isolation ?? null) ?? [];
  const usable = found.data?.usable !== false;
  return (
    <div className="box" id="doctor">
      <div className="h">
        <h2 className="grow">Doctor</h2>
        {found.data && (usable ? hints.length > 0 && <span className="chip warn">{plural(hints.length, "advice", "advices")}</span> : <span className="chip bad">no sandbox can start</span>)}
        <Button icon="reload" aria-label="Examine again" onClick={() => void found.refresh()} />
      </div>
      {found.state === "loading" && <Skeleton rows={3} height={38} />}
      {found.state === "failed" && !found.data && <Failed title="The machine could not be examined">{found.error instanceof Error ? found.error.message : ""}</Failed>}
      {found.data && (
        <ul className="al doc">
          <li><Icon name={usable ? "check" : "x"} size="s" className={usable ? "ok" : "no"} />{usable ? `${guards.filter((guard) => guard.state === "on").length} of ${guards.length} guards in force` : "A sandbox could not be started"}<span className="rt">{String(found.data.backend ?? "")} {String(found.data.version ?? "")}</span></li>
          {guards.map((guard) => <li key={guard.name} className="guard"><Icon name={guard.state === "on" ? "check" : "alert"} size="s" className={guard.state === "on" ? "ok" : "wr"} />{guard.name}<span className="rt">{guard.words}</span></li>)}
          {hints.map((hint) => <li key={hint.problem}><Icon name="alert" size="s" className="wr" /><span className="advice"><span>{hint.problem}</span><small className="muted">{hint.hint}</small></span></li>)}
        </ul>
      )}
    </div>
  );
}

import { plural } from "~/lib/format";
import { navigate, sessionPath } from "~/lib/router";
import { Button } from "~/ui/Button";
import { Icon } from "~/ui/Icon";
import { useEdits } from "../files/edits";
import { changePlace } from "../files/place";

/** Says before a message is sent that the agent will not see what was typed into files and not saved. */
export function UnsavedEdits({ sessionId }: { sessionId: string }) {
  const paths = [...useEdits(sessionId).keys()];
  const [first] = paths;
  if (first === undefined) return null;
  const open = () => {
    changePlace(sessionId, () => ({ chosen: first }));
    navigate(sessionPath(sessionId, "files"));
  };
  return (
    <div className="editing" role="note">
      <Icon name="pencil" size="s" />
      <span>Unsaved edits in {paths.length === 1 ? first : plural(paths.length, "file")}. The agent does not see them until you save.</span>
      <span className="grow" />
      <Button onClick={open}>Show</Button>
    </div>
  );
}

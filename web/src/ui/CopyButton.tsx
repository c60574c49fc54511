import { useState } from "react";
import { Button } from "./Button";

/** Copies a text, and says so for as long as the pointer stays. `subject`: what is copied, where that is not plain to see. */
export function CopyButton({ text, label = "Copy", subject }: { text: string; label?: string; subject?: string }) {
  const [said, setSaid] = useState(label);
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setSaid("Copied"),
      () => setSaid("Not copied: the browser refused"),
    );
  return (
    <Button className="copy" aria-label={subject ? `${said} ${subject}` : `${said} to the clipboard`} onClick={() => void copy()} onPointerLeave={() => setSaid(label)} onBlur={() => setSaid(label)}>
      {said}
    </Button>
  );
}

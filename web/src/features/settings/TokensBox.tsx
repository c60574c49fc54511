import { useResource, useWarrenClient, type TokenCreated, type TokenItem } from "@warren/react";
import { useState } from "react";
import { when } from "~/lib/format";
import { Button } from "~/ui/Button";
import { Confirm } from "~/ui/Confirm";
import { CopyButton } from "~/ui/CopyButton";
import { Dialog } from "~/ui/Dialog";
import { Empty, Skeleton, Unread } from "~/ui/Notice";
import { usePerson } from "../shell/person";
import { NewToken } from "./NewToken";
import { scopeWords } from "./SettingsPage";

/** Who may come in. Secrets are shown once, when they are made. */
export function TokensBox() {
  const client = useWarrenClient();
  const { scope, tokenId } = usePerson();
  const list = useResource("tokens", () => client.tokens());
  const [open, setOpen] = useState<"new" | TokenItem | TokenCreated | null>(null);
  const tokens = list.data?.tokens ?? [];
  return (
    <div className="box scrollx" tabIndex={0} role="region" aria-label="Tokens">
      <div className="h"><h2 className="grow">Tokens</h2>{scope === "admin" && <Button look="line" icon="plus" onClick={() => setOpen("new")}>New token</Button>}</div>
      {list.state === "loading" && <Skeleton rows={3} height={34} />}
      {list.state === "failed" && !list.data && <Unread title="The tokens could not be loaded" error={list.error} onAgain={list.refresh} />}
      {list.data && tokens.length === 0 && <Empty icon="key">No tokens yet. Create one for each person and program, so that each can be revoked on its own.</Empty>}
      {tokens.length > 0 && (
        <table className="tbl num">
          <thead><tr><th scope="col">Name</th><th scope="col">Permissions</th><th scope="col" className="hide-s">Created</th><th scope="col">Expires</th><th scope="col"><span className="vh">Revoke</span></th></tr></thead>
          <tbody>
            {tokens.map((token) => (
              <tr key={token.tokenId}>
                <td>
                  <bdi className="nm">{token.name}</bdi>
                  {token.parent && <span className="muted"> · browser sign-in</span>}
                  {token.tokenId === tokenId && <> <span className="chip acc">this browser</span></>}
                </td>
                <td>{scopeWords(token.scope)}</td>
                <td className="hide-s">{when(token.createdAt)}</td>
                <td>{token.expiresAt ? when(token.expiresAt) : "never"}</td>
                <td>{scope === "admin" && <Button aria-label={`Revoke ${token.name}`} onClick={() => setOpen(token)}>Revoke</Button>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {open === "new" && <NewToken onClose={() => setOpen(null)} onMade={(made) => { setOpen(made); void list.refresh(); }} />}
      {open !== null && open !== "new" && "secret" in open && <Secret made={open} onClose={() => setOpen(null)} />}
      {open !== null && open !== "new" && !("secret" in open) && (
        <Confirm title={`Revoke ${open.name}?`} action="Revoke" onClose={() => setOpen(null)} onConfirm={async () => { await client.revokeToken(open.tokenId); await list.refresh(); }}>
          It stops working immediately. Work done with it is kept.
        </Confirm>
      )}
    </div>
  );
}

function Secret({ made, onClose }: { made: TokenCreated; onClose: () => void }) {
  return (
    <Dialog label="New token created" onClose={onClose}>
      <h2>{made.name}</h2>
      <p className="sub">Copy the token now. It is shown only once.</p>
      <div className="secret"><code>{made.secret}</code><CopyButton text={made.secret} label="Copy the token" /></div>
      <div className="dlg-acts"><Button look="ink" onClick={onClose}>Done</Button></div>
    </Dialog>
  );
}

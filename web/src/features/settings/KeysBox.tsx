import { useResource, useWarrenClient, type ProviderItem } from "@warren/react";
import { useState } from "react";
import { said } from "~/lib/problem";
import { Button } from "~/ui/Button";
import { Confirm } from "~/ui/Confirm";
import { Skeleton, Unread } from "~/ui/Notice";
import { KeyForm } from "./KeyForm";
import { keyWords, testWords, type Test } from "./provider";

type Open = { what: "form" | "remove"; provider: ProviderItem };

/** Who answers model calls, and with which key. A key is stored encrypted and never shown again. */
export function KeysBox() {
  const client = useWarrenClient();
  const list = useResource("providers", client.providers);
  const [open, setOpen] = useState<Open | null>(null);
  const [tests, setTests] = useState<Record<string, Test>>({});
  const test = async ({ name }: ProviderItem) => {
    const note = (outcome: Test) => setTests((old) => ({ ...old, [name]: outcome }));
    note("testing");
    await client.testProvider(name).then(note, (error: unknown) => note({ failed: said(error) }));
  };
  const saved = (provider: ProviderItem) => {
    setOpen(null);
    void list.refresh();
    void test(provider);
  };
  const remove = async ({ name }: ProviderItem) => {
    await client.removeProvider(name);
    setTests(({ [name]: _gone, ...rest }) => rest);
    await list.refresh();
  };
  return (
    <div className="box scrollx" tabIndex={0} role="region" aria-label="Models and keys">
      <div className="h"><h2 className="grow">Models and keys</h2></div>
      {list.state === "loading" && <Skeleton rows={3} height={34} />}
      {list.state === "failed" && !list.data && <Unread title="The providers could not be loaded" error={list.error} onAgain={list.refresh} />}
      {list.data && (
        <table className="tbl keys-tbl">
          <thead><tr><th scope="col">Provider</th><th scope="col">Key</th><th scope="col" className="hide-s">Base URL</th><th scope="col">Test</th><th scope="col"><span className="vh">Actions</span></th></tr></thead>
          <tbody>
            {list.data.providers.map((provider) => (
              <Row key={provider.name} provider={provider} test={tests[provider.name]} onTest={() => void test(provider)} onOpen={(what) => setOpen({ what, provider })} />
            ))}
          </tbody>
        </table>
      )}
      {open?.what === "form" && <KeyForm provider={open.provider} onClose={() => setOpen(null)} onSaved={saved} />}
      {open?.what === "remove" && (
        <Confirm title={`Remove the stored key of ${open.provider.label}?`} action="Remove" onClose={() => setOpen(null)} onConfirm={() => remove(open.provider)}>
          The next model call uses the server’s configuration again, or the demo model if that has no key.
        </Confirm>
      )}
    </div>
  );
}

type RowProps = { provider: ProviderItem; test: Test | undefined; onTest: () => void; onOpen: (what: Open["what"]) => void };

function Row({ provider, test, onTest, onOpen }: RowProps) {
  const { label, baseUrl, problem } = provider;
  const told = test && testWords(test);
  return (
    <tr>
      <td><b className="nm">{label}</b></td>
      <td>{keyWords(provider)}{problem && <small className="why bad">Not used: {problem}</small>}</td>
      <td className="hide-s"><bdi className="mono">{baseUrl}</bdi></td>
      <td role="status">
        {told && <span className={`chip ${told.look}`}>{told.text}</span>}
        {told?.why && <small className="why">{told.why}</small>}
      </td>
      <td>
        <span className="acts">
          <Button aria-label={`${provider.hasKey ? "Replace the key" : "Add key"} of ${label}`} onClick={() => onOpen("form")}>{provider.hasKey ? "Replace" : "Add key"}</Button>
          <Button aria-label={`Test ${label}`} disabled={test === "testing"} onClick={onTest}>Test</Button>
          {provider.isSet && <Button aria-label={`Remove the key of ${label}`} onClick={() => onOpen("remove")}>Remove</Button>}
        </span>
      </td>
    </tr>
  );
}

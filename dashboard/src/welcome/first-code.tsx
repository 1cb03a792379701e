import { Alert, Button, Group, SegmentedControl, Stack, Text } from "@mantine/core";
import { useState } from "react";
import type { CreateApiKeyBody, Merchant } from "../api/operations.ts";
import { useChange } from "../api/queries.ts";
import { CodeBlock } from "../shell/code-block.tsx";
import { CopyIcon, CopyText } from "../shell/copy-text.tsx";
import { SNIPPET_NAMES, type SnippetName, snippets } from "./snippets.ts";

/** The permissions that a shop's server needs. Only permissions that the user has can be granted. */
const PERMISSIONS = {
  "invoice:view": "INVOICE_VIEW",
  "invoice:create": "INVOICE_CREATE",
  "invoice:update": "INVOICE_UPDATE",
  "invoice:cancel": "INVOICE_CANCEL",
} as const satisfies Readonly<
  Partial<Record<Merchant["permissions"][number], CreateApiKeyBody["permissions"][number]>>
>;

interface Props {
  readonly merchant: Merchant;
  readonly onDone: () => void;
  readonly onSkip: () => void;
}

export function FirstCode({ merchant, onDone, onSkip }: Props) {
  // Kept only in this component, because the secret is shown once and stored nowhere else.
  const [secret, setSecret] = useState<string>();
  const create = useChange("createApiKey", { onSuccess: (key) => setSecret(key.secret) });
  if (secret !== undefined) return <Snippets merchant={merchant} secret={secret} onDone={onDone} />;
  const held = Object.entries(PERMISSIONS).filter(([name]) => merchant.permissions.some((each) => each === name));
  const permissions = held.map(([, name]) => name);
  return (
    <Stack>
      <Text>
        Your server creates an invoice with one call and sends the customer to its page. It needs an API key that can
        create, view, edit and cancel invoices, and nothing else.
      </Text>
      <Group justify="flex-end">
        <Button variant="subtle" onClick={onSkip}>
          Skip
        </Button>
        <Button
          loading={create.isPending}
          onClick={() =>
            create.mutate({ merchantId: merchant.id, body: { name: "First key", kind: "SECRET", permissions } })
          }
        >
          Create a key
        </Button>
      </Group>
    </Stack>
  );
}

interface SnippetsProps {
  readonly merchant: Merchant;
  readonly secret: string;
  readonly onDone: () => void;
}

function Snippets({ merchant, secret, onDone }: SnippetsProps) {
  const [name, setName] = useState<SnippetName>("curl");
  const code = snippets({ origin: location.origin, merchantId: merchant.id, secret })[name];
  return (
    <Stack>
      <Alert color="yellow" title="This key is shown once">
        <CopyText value={secret} name="the key" />
        <Text size="sm">Keep it where your server can read it, and never in a web page or an app.</Text>
      </Alert>
      <Group justify="space-between">
        <SegmentedControl
          aria-label="Language"
          data={Object.entries(SNIPPET_NAMES).map(([value, label]) => ({ value, label }))}
          value={name}
          transitionDuration={0}
          onChange={(value) => setName(value === "fetch" ? "fetch" : "curl")}
        />
        <CopyIcon value={code} name="the code" />
      </Group>
      <CodeBlock name="Code" code={code} />
      <Group justify="flex-end">
        <Button onClick={onDone}>Done</Button>
      </Group>
    </Stack>
  );
}

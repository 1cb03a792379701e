import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useState } from "react";
import { call } from "../api/call.ts";
import { useGrowingList } from "../api/queries.ts";
import { GrowingList } from "../shell/growing-list.tsx";
import { Icon } from "../shell/icons.tsx";
import { useMay, useMerchant } from "../shell/merchants.ts";
import { Section } from "../shell/section.tsx";
import { ShownOnce } from "../shell/shown-once.tsx";
import { KeyRow } from "./key-row.tsx";
import { NewKey } from "./new-key.tsx";

const AT_ONCE = 25;

export function KeysSection() {
  const { id: merchantId } = useMerchant();
  const mayCreate = useMay("api_key:create");
  const [isCreating, creating] = useDisclosure();
  // Kept only in this component: the secret is shown once, and stored nowhere.
  const [secret, setSecret] = useState<string>();
  const keys = useGrowingList(["listApiKeys", { merchantId }], (cursor, signal) =>
    call("listApiKeys", { merchantId, query: { limit: AT_ONCE, cursor } }, { signal }),
  );
  return (
    <Section
      title="API keys"
      about="A key belongs to the merchant, not to a person: it works until it expires or is revoked."
      actions={
        mayCreate && (
          <Button size="sm" leftSection={<Icon name="plus" size={16} />} onClick={creating.open}>
            New key
          </Button>
        )
      }
    >
      <GrowingList
        query={keys}
        none="No keys yet. Your server needs one to create invoices; give it only the permissions it needs."
      >
        {(key) => <KeyRow apiKey={key} onSecret={setSecret} />}
      </GrowingList>
      <NewKey
        isOpen={isCreating}
        onClose={creating.close}
        onMade={(made) => {
          creating.close();
          setSecret(made);
        }}
      />
      <ShownOnce title="Your API key" secret={secret} name="the key" onKept={() => setSecret(undefined)}>
        Keep it where your server can read it, such as an environment variable. A secret key never belongs in a web
        page, an app or a repository.
      </ShownOnce>
    </Section>
  );
}

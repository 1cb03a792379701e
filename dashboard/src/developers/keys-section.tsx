import { Button, Divider, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Fragment, useState } from "react";
import { call } from "../api/call.ts";
import { Icon } from "../shell/icons.tsx";
import { useMay, useMerchant } from "../shell/merchants.ts";
import { Read } from "../shell/read.tsx";
import { Section } from "../shell/section.tsx";
import { ShownOnce } from "../shell/shown-once.tsx";
import { KeyRow } from "./key-row.tsx";
import { NewKey } from "./new-key.tsx";

const AT_ONCE = 25;

export function KeysSection() {
  const { id: merchantId } = useMerchant();
  const mayCreate = useMay("api_key:create");
  const [isCreating, creating] = useDisclosure();
  // In this component alone: the secret is shown once, and kept nowhere.
  const [secret, setSecret] = useState<string>();
  const keys = useInfiniteQuery({
    queryKey: ["listApiKeys", { merchantId }, "all"],
    queryFn: ({ pageParam, signal }) =>
      call("listApiKeys", { merchantId, query: { limit: AT_ONCE, cursor: pageParam } }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
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
      <Read query={keys}>
        {({ pages }) => {
          const all = pages.flatMap(({ data }) => data);
          return (
            <Stack>
              {all.length === 0 && (
                <Text c="dimmed">
                  No key yet. Your server needs one to create invoices; give it only what it has to do.
                </Text>
              )}
              {all.map((key, place) => (
                <Fragment key={key.id}>
                  {place > 0 && <Divider />}
                  <KeyRow apiKey={key} onSecret={setSecret} />
                </Fragment>
              ))}
              {keys.hasNextPage && (
                <Button variant="subtle" loading={keys.isFetchingNextPage} onClick={() => void keys.fetchNextPage()}>
                  Show more
                </Button>
              )}
            </Stack>
          );
        }}
      </Read>
      <NewKey
        isOpen={isCreating}
        onClose={creating.close}
        onMade={(made) => {
          creating.close();
          setSecret(made);
        }}
      />
      <ShownOnce title="Your API key" secret={secret} name="the key" onKept={() => setSecret(undefined)}>
        Keep it where your server finds it, such as an environment variable. A secret key never belongs into a page, an
        app or a repository.
      </ShownOnce>
    </Section>
  );
}

import { Badge, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import type { MerchantSummary } from "../api/operations.ts";
import { showDone, useChange, useList } from "../api/queries.ts";
import { ConfirmButton } from "../shell/confirm.tsx";
import { CopyText } from "../shell/copy-text.tsx";
import { Divided } from "../shell/growing-list.tsx";
import { List } from "../shell/list.tsx";
import { useFormats } from "../shell/reader.tsx";
import { SearchField } from "../shell/search-field.tsx";
import { Section } from "../shell/section.tsx";
import { Time } from "../shell/time.tsx";

/** Only a few rows, so that the sections below stay within reach; other merchants are found by searching. */
const AT_ONCE = 5;
/** The API's limit. */
const LONGEST_NAME = 200;
/** The service stops counting at this number. */
const MOST_DUE = 1_000;

export function MerchantsSection() {
  const [search, setSearch] = useState<string>();
  const [cursor, setCursor] = useState<string>();
  const merchants = useList("listMerchantSummaries", { query: { limit: AT_ONCE, cursor, search } });
  return (
    <Section title="Merchants" about="Newest first. Shows activity, but no amounts or customers.">
      <Group>
        <SearchField
          name="Search merchants"
          hint="Start of a name, or an ID"
          longest={LONGEST_NAME}
          asked={search}
          onSearch={(words) => {
            setSearch(words);
            setCursor(undefined);
          }}
        />
      </Group>
      <Stack aria-busy={merchants.isPlaceholderData}>
        <List
          query={merchants}
          cursor={cursor}
          onGo={setCursor}
          empty={
            <Text c="dimmed">{search === undefined ? "No merchants yet." : "No merchant has this name or ID."}</Text>
          }
        >
          {(rows) => <Divided rows={rows}>{(merchant) => <MerchantRow merchant={merchant} />}</Divided>}
        </List>
      </Stack>
    </Section>
  );
}

interface Props {
  readonly merchant: MerchantSummary;
}

function MerchantRow({ merchant }: Props) {
  const { count } = useFormats();
  const { id, name, createdAt, suspendedAt, invoices, dueDeliveries } = merchant;
  const due = dueDeliveries === MOST_DUE ? `${count(MOST_DUE)} or more` : count(dueDeliveries);
  return (
    <Group justify="space-between" gap="sm">
      <Stack gap={2} style={{ flex: "1 1 16rem" }} miw={0}>
        <Group gap="xs">
          <Text fw={600} style={{ overflowWrap: "anywhere" }}>
            <bdi>{name}</bdi>
          </Text>
          {suspendedAt !== null && <Badge color="orange">Suspended</Badge>}
        </Group>
        <Text size="sm" c="dimmed" component="div" className="numbers">
          {count(invoices)} {invoices === 1 ? "invoice" : "invoices"} in the last 24 hours, {due}{" "}
          {dueDeliveries === 1 ? "delivery" : "deliveries"} due, created <Time value={createdAt} />
          {suspendedAt !== null && (
            <>
              , suspended <Time value={suspendedAt} />
            </>
          )}
        </Text>
        <Text size="xs" c="dimmed" component="div">
          <CopyText value={id} name={`the ID of ${name}`} />
        </Text>
      </Stack>
      <SuspendButton merchant={merchant} />
    </Group>
  );
}

function SuspendButton({ merchant: { id: merchantId, name, suspendedAt } }: Props) {
  const suspend = useChange("suspendMerchant", { onSuccess: () => showDone(`${name} is suspended.`) });
  const resume = useChange("resumeMerchant", { onSuccess: () => showDone(`${name} can take payments again.`) });
  return suspendedAt === null ? (
    <ConfirmButton
      action="Suspend"
      subject={name}
      size="xs"
      isBusy={suspend.isPending}
      consequence={
        <>
          <strong>
            <bdi>{name}</bdi>
          </strong>{" "}
          will no longer be able to create invoices, and customers with open invoices will get no new addresses.
          Payments to addresses they already have are still detected and reported, and the team can still view
          everything.
        </>
      }
      onConfirmed={() => suspend.mutate({ merchantId })}
    />
  ) : (
    <ConfirmButton
      action="Resume"
      subject={name}
      size="xs"
      isBusy={resume.isPending}
      consequence={
        <>
          <strong>
            <bdi>{name}</bdi>
          </strong>{" "}
          will be able to create invoices again.
        </>
      }
      onConfirmed={() => resume.mutate({ merchantId })}
    />
  );
}

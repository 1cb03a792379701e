import { Accordion, Group, Stack, Table, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { AuditEvent } from "../api/operations.ts";
import { Fact } from "../invoices/fact.tsx";
import { CopyText } from "../shell/copy-text.tsx";
import { useMerchant } from "../shell/merchants.ts";
import { Time } from "../shell/time.tsx";
import { useNames } from "./names.ts";
import { sentenceOf } from "./sentence.ts";
import { changesOf } from "./words.ts";

type NameOf = (actor: AuditEvent["actor"]) => string;

interface Props {
  readonly entries: readonly AuditEvent[];
  readonly nameOf: NameOf;
  /** Names of members and keys, by their ids. */
  readonly names: ReadonlyMap<string, string>;
}

export function EntryRows({ entries, nameOf, names }: Props) {
  const [opened, open] = useState<string | null>(null);
  const known = useNames(entries, names);
  return (
    <Accordion order={2} chevronPosition="left" value={opened} onChange={open}>
      {entries.map((entry) => (
        <Accordion.Item key={entry.id} value={entry.id}>
          <Accordion.Control>
            <Group justify="space-between" gap="xs">
              <Text size="sm" style={{ flex: "1 1 16rem", overflowWrap: "anywhere" }}>
                {sentenceOf(entry, { ...known, actor: nameOf(entry.actor) })}
              </Text>
              <Text size="sm" c="dimmed" component="div">
                <Time value={entry.createdAt} />
              </Text>
            </Group>
          </Accordion.Control>
          <Accordion.Panel>{opened === entry.id && <Entry entry={entry} nameOf={nameOf} />}</Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  );
}

function Entry({ entry, nameOf }: { readonly entry: AuditEvent; readonly nameOf: NameOf }) {
  const changes = changesOf(entry);
  const { actor, target, ip, requestId } = entry;
  return (
    <Stack>
      {changes.length > 0 && (
        <Table withTableBorder verticalSpacing="xs" horizontalSpacing="xs" fz="sm" layout="fixed">
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">Field</Table.Th>
              {entry.before !== null && <Table.Th scope="col">Before</Table.Th>}
              {entry.after !== null && <Table.Th scope="col">After</Table.Th>}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody style={{ overflowWrap: "anywhere" }}>
            {changes.map(({ field, before, after }) => (
              <Table.Tr key={field}>
                <Table.Th scope="row">{field}</Table.Th>
                {entry.before !== null && <Table.Td>{before}</Table.Td>}
                {entry.after !== null && <Table.Td>{after}</Table.Td>}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      <Stack component="dl" gap="xs" m={0}>
        <Fact name="Who">
          {nameOf(actor)}
          {actor.id !== null && <CopyText value={actor.id} name="the actor's ID" />}
        </Fact>
        <Fact name="Object">
          <CopyText value={target} name="the ID of the changed object" />
          <TargetLink target={target} />
        </Fact>
        {ip !== null && <Fact name="IP address">{ip}</Fact>}
        {requestId !== null && (
          <Fact name="Request">
            <CopyText value={requestId} name="the request ID" />
          </Fact>
        )}
      </Stack>
    </Stack>
  );
}

/** A link to the changed object, if the console has a page for it. */
function TargetLink({ target }: { readonly target: string }) {
  const { id: merchantId } = useMerchant();
  if (target.startsWith("inv_")) {
    return (
      <Link to="/console/$merchantId/invoices/$invoiceId" params={{ merchantId, invoiceId: target }}>
        View invoice
      </Link>
    );
  }
  if (target.startsWith("pay_")) {
    return (
      <Link to="/console/$merchantId/payments/$paymentId" params={{ merchantId, paymentId: target }}>
        View payment
      </Link>
    );
  }
  return null;
}

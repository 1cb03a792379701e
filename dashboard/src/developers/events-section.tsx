import { Accordion, Group, Select, Stack, Text } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useList } from "../api/queries.ts";
import { EventDeliveries } from "../invoices/event-deliveries.tsx";
import { List } from "../shell/list.tsx";
import { useMerchant } from "../shell/merchants.ts";
import { Section } from "../shell/section.tsx";
import { Time } from "../shell/time.tsx";
import { EventBody } from "./event-body.tsx";
import { EVENT_GROUPS } from "./event-groups.ts";
import type { DevelopersSearch } from "./search.ts";

const AT_ONCE = 25;
/** Live updates do not cover every type of event, so the newest events are also polled. */
const READ_AGAIN_MS = 10_000;

/** Events, newest first, updated as they happen. */
export function EventsSection({ search }: { readonly search: DevelopersSearch }) {
  const { id: merchantId } = useMerchant();
  const navigate = useNavigate({ from: "/console/$merchantId/developers" });
  const { type, cursor } = search;
  const events = useList(
    "listEvents",
    { merchantId, query: { type, cursor, limit: AT_ONCE } },
    () => cursor === undefined && READ_AGAIN_MS,
  );
  const show = (change: Omit<DevelopersSearch, "tab">) => navigate({ search: { tab: "events", ...change } });
  return (
    <Section
      title="Events"
      about="All events from the last 90 days, whether or not an endpoint subscribes to them. New events appear automatically."
      actions={
        <Select
          aria-label="Event type"
          placeholder="All events"
          data={EVENT_GROUPS}
          value={type ?? null}
          onChange={(chosen) => show(chosen === null ? {} : { type: chosen })}
          searchable
          clearable
          clearButtonProps={{ "aria-label": "All events" }}
          w={250}
        />
      }
    >
      <Stack style={{ opacity: events.isPlaceholderData ? 0.6 : 1 }}>
        <List
          query={events}
          cursor={cursor}
          onGo={(next) => show({ type, cursor: next })}
          empty={
            <Text c="dimmed">
              {type === undefined ? "No events yet. Create an invoice to see the first." : "No events of this type."}
            </Text>
          }
        >
          {(rows) => <EventRows events={rows} merchantId={merchantId} />}
        </List>
      </Stack>
    </Section>
  );
}

interface RowsProps {
  readonly merchantId: string;
  readonly events: readonly { readonly id: string; readonly type: string; readonly timestamp: string }[];
}

function EventRows({ merchantId, events }: RowsProps) {
  const [opened, open] = useState<string | null>(null);
  return (
    <Accordion order={3} chevronPosition="left" value={opened} onChange={open}>
      {events.map((event) => (
        <Accordion.Item key={event.id} value={event.id}>
          <Accordion.Control>
            <Group justify="space-between" gap="xs">
              <Text size="sm" className="mono">
                {event.type}
              </Text>
              <Text size="sm" c="dimmed" component="div">
                <Time value={event.timestamp} />
              </Text>
            </Group>
          </Accordion.Control>
          <Accordion.Panel>
            {opened === event.id && (
              <Stack>
                <EventBody event={event} />
                <EventDeliveries merchantId={merchantId} eventId={event.id} />
              </Stack>
            )}
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  );
}

import { Accordion, Badge, Group, Select, Stack, Text } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Delivery, Webhook } from "../api/operations.ts";
import { useList } from "../api/queries.ts";
import { DELIVERY_STATES, isDeliveryState, lastOf, READ_AGAIN_MS } from "../invoices/event-deliveries.tsx";
import { List } from "../shell/list.tsx";
import { Section } from "../shell/section.tsx";
import { Time } from "../shell/time.tsx";
import { DeliveryDetails } from "./delivery-details.tsx";
import type { EndpointSearch } from "./search.ts";

const AT_ONCE = 20;
/** Live updates only cover endpoints that need attention, so the shown endpoint and its newest deliveries are polled. */
export const READ_NEWER_MS = 10_000;
const STATE_OPTIONS = Object.entries(DELIVERY_STATES).map(([value, { name }]) => ({ value, label: name }));

interface Props {
  readonly endpoint: Webhook;
  readonly search: EndpointSearch;
}

export function DeliveriesSection({ endpoint, search }: Props) {
  const { merchantId, id: webhookId } = endpoint;
  const navigate = useNavigate({ from: "/console/$merchantId/developers/endpoints/$webhookId" });
  const { status, cursor } = search;
  const deliveries = useList(
    "listDeliveries",
    { merchantId, params: { webhookId }, query: { status, cursor, limit: AT_ONCE } },
    (read) => {
      if (read?.data.some((each) => each.status === "PENDING") === true) return READ_AGAIN_MS;
      return cursor === undefined && READ_NEWER_MS;
    },
  );
  return (
    <Section
      title="Deliveries"
      about="Newest first, kept for 30 days after the last attempt."
      actions={
        <Select
          aria-label="Delivery status"
          placeholder="Any status"
          data={STATE_OPTIONS}
          value={status ?? null}
          onChange={(value) => navigate({ search: isDeliveryState(value) ? { status: value } : {} })}
          clearable
          clearButtonProps={{ "aria-label": "Any status" }}
          w={160}
        />
      }
    >
      <Stack style={{ opacity: deliveries.isPlaceholderData ? 0.6 : 1 }}>
        <List
          query={deliveries}
          cursor={cursor}
          onGo={(next) => navigate({ search: { status, cursor: next } })}
          empty={
            <Text c="dimmed">
              {status === undefined
                ? "No deliveries yet. Send a ping to check that your server accepts it."
                : "No deliveries with this status."}
            </Text>
          }
        >
          {(rows) => <DeliveryRows merchantId={merchantId} deliveries={rows} />}
        </List>
      </Stack>
    </Section>
  );
}

interface RowsProps {
  readonly merchantId: string;
  readonly deliveries: readonly Delivery[];
}

function DeliveryRows({ merchantId, deliveries }: RowsProps) {
  const [opened, open] = useState<string | null>(null);
  return (
    <Accordion order={3} chevronPosition="left" value={opened} onChange={open}>
      {deliveries.map((delivery) => (
        <Accordion.Item key={delivery.id} value={delivery.id}>
          <Accordion.Control>
            <Group justify="space-between" gap="xs">
              <Group gap="sm">
                <Badge color={DELIVERY_STATES[delivery.status].color}>{DELIVERY_STATES[delivery.status].name}</Badge>
                <Text size="sm" className="mono">
                  {delivery.eventType}
                </Text>
              </Group>
              <Text size="sm" c="dimmed" component="div">
                {delivery.attempts > 1 && `${delivery.attempts} attempts, `}
                {delivery.attempts > 0 && `${lastOf(delivery)}, `}
                <Time value={delivery.updatedAt} />
              </Text>
            </Group>
          </Accordion.Control>
          <Accordion.Panel>
            {opened === delivery.id && <DeliveryDetails merchantId={merchantId} delivery={delivery} />}
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  );
}

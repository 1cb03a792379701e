import { Accordion, Group, Text } from "@mantine/core";
import { useState } from "react";
import type { Invoice } from "../api/operations.ts";
import { useList } from "../api/queries.ts";
import { Read } from "../shell/read.tsx";
import { Section } from "../shell/section.tsx";
import { Time } from "../shell/time.tsx";
import { EventDeliveries } from "./event-deliveries.tsx";

export function EventsSection({ invoice }: { readonly invoice: Invoice }) {
  const { merchantId, id: invoiceId } = invoice;
  const [opened, open] = useState<string | null>(null);
  const events = useList("listEvents", { merchantId, query: { invoiceId, limit: 100 } });
  return (
    <Section title="Events" about="Events sent to your server about this invoice, and the result of each delivery.">
      <Read query={events}>
        {({ data }) => (
          <Accordion order={3} chevronPosition="left" value={opened} onChange={open}>
            {data.map((event) => (
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
                  {opened === event.id && <EventDeliveries merchantId={merchantId} eventId={event.id} />}
                </Accordion.Panel>
              </Accordion.Item>
            ))}
          </Accordion>
        )}
      </Read>
    </Section>
  );
}

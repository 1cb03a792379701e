import { Group, Text } from "@mantine/core";
import type { Invoice } from "../api/operations.ts";
import { useList } from "../api/queries.ts";
import { Read } from "../shell/read.tsx";
import { Section } from "../shell/section.tsx";
import { Time } from "../shell/time.tsx";

const READ_AGAIN_MS = 5_000;

export function EventsSection({ invoice }: { readonly invoice: Invoice }) {
  const { merchantId, id: invoiceId } = invoice;
  const events = useList("listEvents", { merchantId, query: { invoiceId, limit: 100 } }, READ_AGAIN_MS);
  return (
    <Section title="Events" about="What your server is told about this invoice.">
      <Read query={events}>
        {({ data }) =>
          data.map((event) => (
            <Group key={event.id} justify="space-between" gap="xs">
              <Text size="sm" className="mono">
                {event.type}
              </Text>
              <Text size="sm" c="dimmed" component="div">
                <Time value={event.timestamp} />
              </Text>
            </Group>
          ))
        }
      </Read>
    </Section>
  );
}

import { Text, Timeline } from "@mantine/core";
import type { Invoice } from "../api/operations.ts";
import { INVOICE_STATES } from "../invoices/status.tsx";
import { Section } from "../shell/section.tsx";
import { Time } from "../shell/time.tsx";

export function TimelineSection({ invoice }: { readonly invoice: Invoice }) {
  const { invoiceTimeline: items, resolution } = invoice;
  return (
    <Section title="Timeline">
      <Timeline active={items.length} bulletSize={16} lineWidth={2}>
        {items.map(({ id, paymentStatus, time }) => (
          <Timeline.Item
            key={id}
            title={INVOICE_STATES[paymentStatus].name}
            color={INVOICE_STATES[paymentStatus].color}
          >
            <Text size="sm" c="dimmed" component="div">
              <Time value={time} />
            </Text>
          </Timeline.Item>
        ))}
        {resolution !== null && (
          <Timeline.Item title={`Decided by hand: ${resolution.action.toLowerCase()}`}>
            <Text size="sm">{resolution.reason}</Text>
            {resolution.txHash !== null && <Text className="mono">{resolution.txHash}</Text>}
            <Text size="sm" c="dimmed" component="div">
              {resolution.actor}, <Time value={resolution.at} />
            </Text>
          </Timeline.Item>
        )}
      </Timeline>
    </Section>
  );
}

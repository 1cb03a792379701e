import { Text, Timeline } from "@mantine/core";
import type { Invoice } from "../api/operations.ts";
import { useDeciders } from "../shell/authors.ts";
import { CopyText } from "../shell/copy-text.tsx";
import { Section } from "../shell/section.tsx";
import { Time } from "../shell/time.tsx";
import { INVOICE_STATES } from "./status.tsx";

const DECISIONS: Readonly<Record<string, string>> = {
  ACCEPT: "Accepted by hand",
  DISMISS: "Dismissed by hand",
  RETURNED: "Money returned",
  MARK: "Marked as settled by hand",
  ASK_FOR_REST: "Asked for the rest by hand",
};

export function TimelineSection({ invoice }: { readonly invoice: Invoice }) {
  const { invoiceTimeline: items, resolution } = invoice;
  const deciderOf = useDeciders();
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
          <Timeline.Item title={DECISIONS[resolution.action] ?? resolution.action}>
            <Text size="sm">{resolution.reason}</Text>
            {resolution.txHash !== null && (
              <Text size="sm" component="div">
                Sent back with <CopyText value={resolution.txHash} name="the hash of the transaction" />
              </Text>
            )}
            <Text size="sm" c="dimmed" component="div">
              {deciderOf(resolution.actor)}, <Time value={resolution.at} />
            </Text>
          </Timeline.Item>
        )}
      </Timeline>
    </Section>
  );
}

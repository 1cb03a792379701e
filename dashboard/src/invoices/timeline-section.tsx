import { Text, Timeline } from "@mantine/core";
import type { Invoice } from "../api/operations.ts";
import { useDeciders } from "../shell/authors.ts";
import { CopyText } from "../shell/copy-text.tsx";
import { useFormats } from "../shell/reader.tsx";
import { Section } from "../shell/section.tsx";
import { Time } from "../shell/time.tsx";
import { INVOICE_STATES } from "./states.ts";

const DECISIONS: Readonly<Record<string, string>> = {
  ACCEPT: "Accepted manually",
  DISMISS: "Dismissed manually",
  RETURNED: "Money returned",
  MARK: "Marked as settled manually",
  ASK_FOR_REST: "Asked for the rest manually",
};

export function TimelineSection({ invoice }: { readonly invoice: Invoice }) {
  const { invoiceTimeline: items, resolution } = invoice;
  const deciderOf = useDeciders();
  return (
    <Section title="Timeline">
      <Timeline active={items.length} bulletSize={16} lineWidth={2}>
        {items.map(({ id, paymentStatus, time }, place) => (
          <Timeline.Item
            key={id}
            title={INVOICE_STATES[paymentStatus].name}
            color={INVOICE_STATES[paymentStatus].color}
          >
            <Text size="sm" c="dimmed" component="div">
              <Time value={time} hasSeconds />
              <After time={time} last={items[place - 1]?.time} />
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
              {deciderOf(resolution.actor)}, <Time value={resolution.at} hasSeconds />
              <After time={resolution.at} last={items.at(-1)?.time} />
            </Text>
          </Timeline.Item>
        )}
      </Timeline>
    </Section>
  );
}

interface AfterProps {
  readonly time: string;
  /** When the step before it was; undefined for the first. */
  readonly last: string | undefined;
}

/** How long it took, so that nobody has to subtract two times that look the same. */
function After({ time, last }: AfterProps) {
  const { elapsed } = useFormats();
  if (last === undefined) return null;
  return <> · {elapsed(last, time)} later</>;
}

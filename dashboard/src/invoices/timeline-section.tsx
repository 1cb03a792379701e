import { Text, Timeline } from "@mantine/core";
import type { Invoice } from "../api/operations.ts";
import { useDeciders } from "../shell/authors.ts";
import { CopyText } from "../shell/copy-text.tsx";
import { useFormats } from "../shell/reader.tsx";
import { Section } from "../shell/section.tsx";
import { Time } from "../shell/time.tsx";
import { INVOICE_STATES } from "./states.ts";
import { stepsOf } from "./steps.ts";

const DECISIONS: Readonly<Record<string, string>> = {
  ACCEPT: "Accepted manually",
  DISMISS: "Dismissed manually",
  RETURNED: "Marked as returned",
  MARK: "Marked as settled manually",
  ASK_FOR_REST: "Remaining amount requested manually",
};

export function TimelineSection({ invoice }: { readonly invoice: Invoice }) {
  const deciderOf = useDeciders();
  const steps = stepsOf(invoice);
  return (
    <Section title="Timeline">
      <Timeline active={steps.length} bulletSize={16} lineWidth={2}>
        {steps.map(({ time, state, decision }, place) => (
          <Timeline.Item
            key={`${time} ${state}`}
            {...(state === null ? {} : { color: INVOICE_STATES[state].color })}
            title={state === null ? (DECISIONS[decision.action] ?? decision.action) : INVOICE_STATES[state].name}
          >
            {decision !== null && <Text size="sm">{decision.reason}</Text>}
            {decision !== null && decision.txHash !== null && (
              <Text size="sm" component="div">
                Return transaction: <CopyText value={decision.txHash} name="the transaction hash" />
              </Text>
            )}
            <Text size="sm" c="dimmed" component="div">
              {decision !== null && `${deciderOf(decision.actor)}, `}
              <Time value={time} hasSeconds />
              <After time={time} last={steps[place - 1]?.time} />
            </Text>
          </Timeline.Item>
        ))}
      </Timeline>
    </Section>
  );
}

interface AfterProps {
  readonly time: string;
  /** The time of the previous step; undefined for the first. */
  readonly last: string | undefined;
}

/** The time since the previous step, so that the reader does not have to subtract two times. */
function After({ time, last }: AfterProps) {
  const { elapsed } = useFormats();
  if (last === undefined) return null;
  return <> · {elapsed(last, time)} later</>;
}

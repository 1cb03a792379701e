import { Button, Code, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { PaymentDetails } from "../api/operations.ts";
import { evidence } from "../invoices/evidence.ts";
import { Fact } from "../invoices/fact.tsx";
import { CopyText } from "../shell/copy-text.tsx";
import { Section } from "../shell/section.tsx";
import { Time } from "../shell/time.tsx";

type Weighing = NonNullable<PaymentDetails["evidence"]["weighing"]>;

/** How the value of a payment was found. */
const WEIGHED_BY: Readonly<Record<Weighing["by"], string>> = {
  EXACT_UNITS: "Its value is that of the quote for exactly this amount.",
  IN_FORCE: "Its value is by the quote that was in force when it was made.",
  LAST_ENDED: "Its value is by the last quote before it, which had ended shortly before.",
  MARKET_RATE: "Its value is by the market rate when it was first seen.",
  NO_RATE: "No fresh rate could value it: decide by hand.",
};

export function EvidenceSection({ payment }: { readonly payment: PaymentDetails }) {
  const [isShown, { toggle }] = useDisclosure();
  const { rule, weighing, block, claims, raw, supersedes } = payment.evidence;
  return (
    <Section title="Evidence" about="What the decision rests on.">
      <Stack gap="xs">
        <Text size="sm">{evidence(rule) ?? "No rule credited it."}</Text>
        {weighing !== null && <Text size="sm">{WEIGHED_BY[weighing.by]}</Text>}
        {weighing !== null && weighing.quote !== null && (
          <Text size="sm" c="dimmed" component="div">
            That quote had a rate of {weighing.quote.rate}, and was locked until{" "}
            <Time value={weighing.quote.lockedUntil} />.
          </Text>
        )}
        {supersedes.map(({ paymentId, amount, currency, toAddress }) => (
          <Text key={paymentId} size="sm" style={{ overflowWrap: "anywhere" }}>
            Before this payment, the same transaction was shown with {amount} {currency} to {toAddress}.
          </Text>
        ))}
        {claims.length > 0 && (
          <Text size="sm">
            This transaction was named on the page of an invoice. That proves nothing by itself: hashes are public.
          </Text>
        )}
      </Stack>
      <Stack component="dl" m={0} gap="xs">
        {block === null ? (
          <Fact name="Block">Not in a block yet</Fact>
        ) : (
          <>
            <Fact name="Block">{block.height}</Fact>
            <Fact name="Its time">
              <Time value={block.time} />
            </Fact>
            <Fact name="Its hash">
              <CopyText value={block.hash} name="the block's hash" />
            </Fact>
          </>
        )}
      </Stack>
      <Button variant="default" size="xs" onClick={toggle} aria-expanded={isShown} style={{ alignSelf: "flex-start" }}>
        {isShown ? "Hide" : "Show"} what the source said
      </Button>
      {isShown && (
        <Code block style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
          {pretty(raw)}
        </Code>
      )}
    </Section>
  );
}

/** The source's own text; it may have been cut, and is then no longer JSON. */
function pretty(raw: string): string {
  try {
    return JSON.stringify(JSON.parse(raw), null, 2);
  } catch {
    return raw;
  }
}

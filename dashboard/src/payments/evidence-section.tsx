import { Button, Code, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { PaymentDetails } from "../api/operations.ts";
import { evidence } from "../invoices/evidence.ts";
import { Fact } from "../invoices/fact.tsx";
import { CopyText } from "../shell/copy-text.tsx";
import { Section } from "../shell/section.tsx";
import { Time } from "../shell/time.tsx";

type Weighing = NonNullable<PaymentDetails["evidence"]["weighing"]>;

/** How the value of a payment was determined. */
const WEIGHED_BY: Readonly<Record<Weighing["by"], string>> = {
  EXACT_UNITS: "Valued at the quote for exactly this amount.",
  IN_FORCE: "Valued at the quote in force when the payment was made.",
  LAST_ENDED: "Valued at the last quote, which had expired shortly before the payment.",
  MARKET_RATE: "Valued at the market rate when the payment was first seen.",
  NO_RATE: "Not valued, because no current rate was available. Decide manually.",
};

export function EvidenceSection({ payment }: { readonly payment: PaymentDetails }) {
  const [isShown, { toggle }] = useDisclosure();
  const { rule, weighing, block, claims, raw, supersedes } = payment.evidence;
  return (
    <Section title="Evidence" about="What the decision is based on.">
      <Stack gap="xs">
        <Text size="sm">{evidence(rule) ?? "Not credited automatically."}</Text>
        {weighing !== null && <Text size="sm">{WEIGHED_BY[weighing.by]}</Text>}
        {weighing !== null && weighing.quote !== null && (
          <Text size="sm" c="dimmed" component="div">
            The quote's rate was {weighing.quote.rate}, locked until <Time value={weighing.quote.lockedUntil} />.
          </Text>
        )}
        {supersedes.map(({ paymentId, amount, currency, toAddress }) => (
          <Text key={paymentId} size="sm" style={{ overflowWrap: "anywhere" }}>
            The same transaction was previously seen with {amount} {currency} to {toAddress}.
          </Text>
        ))}
        {claims.length > 0 && (
          <Text size="sm">
            This transaction was entered on an invoice's payment page. This alone is not proof of payment: transaction
            hashes are public.
          </Text>
        )}
      </Stack>
      <Stack component="dl" m={0} gap="xs">
        {block === null ? (
          <Fact name="Block">Not in a block yet</Fact>
        ) : (
          <>
            <Fact name="Block">{block.height}</Fact>
            <Fact name="Block time">
              <Time value={block.time} />
            </Fact>
            <Fact name="Block hash">
              <CopyText value={block.hash} name="the block hash" />
            </Fact>
          </>
        )}
      </Stack>
      <Button variant="default" size="xs" onClick={toggle} aria-expanded={isShown} style={{ alignSelf: "flex-start" }}>
        {isShown ? "Hide" : "Show"} source data
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

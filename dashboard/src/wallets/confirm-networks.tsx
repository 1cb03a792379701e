// Asks the user to confirm the networks chosen for an address, then registers the address on each and shows the results.
import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { displayNameOf, type Pair } from "./pairs.ts";
import { type Outcome, useRegistrations } from "./registrations.ts";

interface Props {
  readonly merchantId: string;
  readonly address: string;
  /** At least one. */
  readonly pairs: readonly Pair[];
  readonly onBack: () => void;
}

export function ConfirmNetworks({ merchantId, address, pairs, onBack }: Props) {
  const { outcomes, isBusy, register } = useRegistrations(merchantId, address);
  const isBegun = outcomes.size > 0;
  const left = pairs.filter(({ label }) => outcomes.get(label)?.kind !== "DONE");
  const names = [...new Set(pairs.map(({ network }) => displayNameOf(network)))];
  return (
    <Stack>
      {!isBegun && (
        <Alert color="indigo" role="status" title={`Customers will send money on ${names.join(", ")} to this address`}>
          <Text className="mono" style={{ overflowWrap: "anywhere" }}>
            {address}
          </Text>
          Compare every character. Continue only if you hold its key yourself: an exchange or a smart contract wallet
          may not be able to receive on these networks.
        </Alert>
      )}
      <Outcomes pairs={pairs} outcomes={outcomes} />
      {isBegun && !isBusy && <Summary count={pairs.length} left={left.length} />}
      <Group>
        {(!isBegun || left.length > 0) && (
          <Button loading={isBusy} onClick={() => void register(left)}>
            {isBegun ? `Try again: ${walletCount(left.length)}` : `Add ${walletCount(left.length)}`}
          </Button>
        )}
        <Button variant="subtle" disabled={isBusy} onClick={onBack}>
          {isBegun ? "Choose more" : "Back"}
        </Button>
      </Group>
    </Stack>
  );
}

const walletCount = (count: number) => (count === 1 ? "1 wallet" : `${count} wallets`);

function Summary({ count, left }: { readonly count: number; readonly left: number }) {
  const isDone = left === 0;
  return (
    <Alert color={isDone ? "green" : "orange"} role="status">
      {isDone
        ? "All wallets were added."
        : `${count - left} of ${count} wallets were added. Invoices will not offer the others.`}
    </Alert>
  );
}

function Outcomes({ pairs, outcomes }: Pick<Props, "pairs"> & { readonly outcomes: ReadonlyMap<string, Outcome> }) {
  return (
    <Stack component="ul" gap="xs" m={0} p={0} style={{ listStyle: "none" }}>
      {pairs.map(({ label }) => {
        const outcome = outcomes.get(label);
        return (
          <Group component="li" key={label} justify="space-between" gap="xs">
            <Text size="sm" fw={600}>
              {label}
            </Text>
            {outcome !== undefined && (
              <Text size="sm" style={{ overflowWrap: "anywhere" }}>
                {wordsOf(outcome)}
              </Text>
            )}
          </Group>
        );
      })}
    </Stack>
  );
}

function wordsOf(outcome: Outcome): string {
  switch (outcome.kind) {
    case "BUSY":
      return "Adding…";
    case "DONE":
      return "Added";
    case "FAILED":
      return `Not added: ${outcome.reason}`;
  }
}

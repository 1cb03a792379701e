// Shows whether customers can pay now, with which coins, and why not with the others. The reasons are the service's own sentences.
import { Alert, Anchor, Badge, Divider, Group, Stack, Text } from "@mantine/core";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Fragment } from "react";
import type { Readiness } from "../api/operations.ts";
import { CurrencyField } from "../invoices/currency-field.tsx";
import { coinName } from "../shell/coin-name.ts";
import { useMerchant } from "../shell/merchants.ts";
import { PageHeader } from "../shell/page-header.tsx";
import { Read } from "../shell/read.tsx";
import { useFormats } from "../shell/reader.tsx";
import { Section } from "../shell/section.tsx";
import { Time } from "../shell/time.tsx";
import { type Coin, type Finding, groupsOf, isReady, verdictOf } from "./coins.ts";
import { Findings } from "./findings.tsx";
import { readinessSearch } from "./search.ts";
import { useReadiness } from "./use-readiness.ts";

const PAGE = "/console/$merchantId/readiness";

export function ReadinessPage() {
  const search = useSearch({ from: `/frame/merchant${PAGE}` });
  const readiness = useReadiness(search);
  const verdict = readiness.data && verdictOf(readiness.data);
  return (
    <>
      <PageHeader
        title="Can I accept payments now?"
        mark={verdict && <Badge color={verdict.color}>{verdict.short}</Badge>}
        subtitle="Which coins customers can pay with, and why the others are unavailable."
        actions={readiness.data && <Currency value={readiness.data.currency} />}
      />
      <Read query={readiness}>{(data) => <Answer readiness={data} />}</Read>
    </>
  );
}

function Currency({ value }: { readonly value: string }) {
  const navigate = useNavigate({ from: PAGE });
  return (
    <CurrencyField
      label="Price currency"
      value={value}
      w={140}
      onChange={(currency) => void navigate({ search: readinessSearch({ currency }), replace: true })}
    />
  );
}

function Answer({ readiness }: { readonly readiness: Readiness }) {
  const { checkedAt, reasons, warnings, limits } = readiness;
  const { own, addable, missing } = groupsOf(readiness);
  const { color, text } = verdictOf(readiness);
  const { count } = useFormats();
  return (
    <Stack gap="lg" maw={960}>
      <Alert color={color} title={text}>
        Checked <Time value={checkedAt} />. {count(limits.activeInvoices)} of at most {count(limits.maxActiveInvoices)}{" "}
        invoices are awaiting payment.
      </Alert>
      {reasons.length > 0 && (
        <Alert color="red" title="Payments are blocked for all coins">
          <Findings findings={reasons} />
        </Alert>
      )}
      {warnings.length > 0 && (
        <Alert color="orange" title="Payments may soon be blocked for all coins">
          <Findings findings={warnings} />
        </Alert>
      )}
      <Own coins={own} />
      <Addable coins={addable} />
      <Missing coins={missing} />
    </Stack>
  );
}

function Own({ coins }: { readonly coins: readonly Coin[] }) {
  const { id: merchantId } = useMerchant();
  return (
    <Section title="Your coins" about="Coins that have a wallet.">
      {coins.length === 0 ? (
        <Text>
          None yet.{" "}
          <Anchor component={Link} to={`/console/${merchantId}/wallets`} inherit underline="always">
            Add a wallet
          </Anchor>
        </Text>
      ) : (
        coins.map((coin, place) => (
          <Fragment key={nameOf(coin)}>
            {place > 0 && <Divider />}
            <OwnCoin coin={coin} />
          </Fragment>
        ))
      )}
    </Section>
  );
}

function OwnCoin({ coin }: { readonly coin: Coin }) {
  const { id: merchantId } = useMerchant();
  const { isTest, walletId } = coin;
  return (
    <Stack gap={4} component="article" aria-label={nameOf(coin)}>
      <Group gap="xs">
        <Anchor component={Link} to={`/console/${merchantId}/wallets/${walletId}`} fw={600} underline="always">
          {nameOf(coin)}
        </Anchor>
        <Badge color={isReady(coin) ? "green" : "red"}>{isReady(coin) ? "Yes" : "No"}</Badge>
        {isTest && <Badge color="gray">Test money</Badge>}
      </Group>
      <Findings findings={lacksOf(coin)} />
      <Reading reading={coin.reading} />
    </Stack>
  );
}

/**
 * How far the network has been read. For a network that was never read, there is a finding instead. While no payment is expected, the source is not
 * queried, so it is unknown whether it would respond.
 */
function Reading({ reading }: Pick<Coin, "reading">) {
  const { count, duration } = useFormats();
  if (reading === null) return null;
  const { isBeingRead, height, secondsBehind } = reading;
  return (
    <Dimmed>
      {isBeingRead
        ? `Read up to block ${count(height)}, ${duration(secondsBehind ?? 0)} ago.`
        : `Not being read, because no payment is expected. Last read block: ${count(height)}.`}
    </Dimmed>
  );
}

function Dimmed({ children }: { readonly children: string }) {
  return (
    <Text size="sm" c="dimmed" className="numbers">
      {children}
    </Text>
  );
}

function Addable({ coins }: { readonly coins: readonly Coin[] }) {
  const { id: merchantId } = useMerchant();
  if (coins.length === 0) return null;
  return (
    <Section
      title="Ready to add"
      about="Coins whose network is watched and whose price is known. Add a wallet to accept them."
    >
      <Text style={{ overflowWrap: "anywhere" }}>{coins.map(nameOf).join(", ")}</Text>
      <Anchor component={Link} to={`/console/${merchantId}/wallets`} underline="always">
        Add a wallet
      </Anchor>
    </Section>
  );
}

/** Coins of one network usually have the same findings, so these are shown once. */
function Missing({ coins }: { readonly coins: readonly Coin[] }) {
  const kinds = Map.groupBy(coins, (coin) =>
    lacksOf(coin)
      .map(({ detail }) => detail)
      .join(" "),
  );
  if (coins.length === 0) return null;
  return (
    <Section
      title="Not available yet"
      about="A wallet alone is not enough for these coins. Ask an operator of the deployment."
    >
      {[...kinds].map(([kind, alike], place) => (
        <Fragment key={kind}>
          {place > 0 && <Divider />}
          <Stack gap={4}>
            <Text fw={600} style={{ overflowWrap: "anywhere" }}>
              {alike.map(nameOf).join(", ")}
            </Text>
            <Findings findings={alike.slice(0, 1).flatMap(lacksOf)} />
          </Stack>
        </Fragment>
      ))}
    </Section>
  );
}

function lacksOf({ reasons, warnings }: Coin): readonly Finding[] {
  return [...reasons, ...warnings];
}

function nameOf({ cryptocurrency, network }: Coin): string {
  return coinName(cryptocurrency, network);
}

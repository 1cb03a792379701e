// Everything that needs a user's attention. Each row leads to the page where it is handled, or has the button for it.
import { Anchor, Button, Card, Group, Stack, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useId, useState } from "react";
import { useList } from "../api/queries.ts";
import { coinName, networkName } from "../shell/coin-name.ts";
import { Icon } from "../shell/icons.tsx";
import { useMerchant } from "../shell/merchants.ts";
import { Read } from "../shell/read.tsx";
import { useFormats } from "../shell/reader.tsx";
import { Time } from "../shell/time.tsx";
import { howMany, NEEDS, type Need } from "./needs.ts";
import { DeleteWallet, DisableWallet, PingEndpoint, SwitchOn } from "./remedies.tsx";

export function AttentionSection() {
  const { id: merchantId } = useMerchant();
  const attention = useList("getAttention", { merchantId });
  return <Read query={attention}>{({ data }) => data.length > 0 && <Strip needs={data} />}</Read>;
}

/** One line with a button for each kind, so that the received amounts stay visible. The cases of the pressed kind are shown below the line. */
function Strip({ needs }: { readonly needs: readonly Need[] }) {
  const [opened, open] = useState<Need["type"]>();
  const shown = needs.find(({ type }) => type === opened);
  const id = useId();
  return (
    <Card component="section" aria-labelledby={id} padding="sm" className="attention">
      <Stack gap="sm">
        <Group gap="xs">
          <Title order={2} id={id} fz="md" mr={4}>
            Needs attention
          </Title>
          {needs.map((need) => (
            <Button
              key={need.type}
              size="xs"
              variant="light"
              color="orange"
              aria-expanded={need === shown}
              rightSection={<Icon name="chevron" size={12} />}
              styles={{ label: { whiteSpace: "normal" }, root: { height: "auto", minHeight: 30 } }}
              onClick={() => open(need === shown ? undefined : need.type)}
            >
              {howMany(need)} · {NEEDS[need.type].title}
            </Button>
          ))}
        </Group>
        {shown !== undefined && <NeedCases need={shown} />}
      </Stack>
    </Card>
  );
}

function NeedCases({ need }: { readonly need: Need }) {
  const { title, about } = NEEDS[need.type];
  return (
    <Stack component="article" aria-label={title} gap="xs" px={4} pb={4}>
      <Text size="sm" c="dimmed">
        {about}
      </Text>
      <Cases need={need} />
    </Stack>
  );
}

type NeedOf<T extends Need["type"]> = Extract<Need, { readonly type: T }>;

/** The newest cases of a kind, each with its remedy. */
function Cases({ need }: { readonly need: Need }) {
  switch (need.type) {
    case "PAYMENT_UNMATCHED":
      return need.newest.map((payment) => <PaymentCase key={payment.paymentId} {...payment} />);
    case "INVOICE_IN_REVIEW":
    case "INVOICE_UNDERPAID":
      return <InvoiceCases need={need} />;
    case "NETWORK_LAGGING":
      return need.newest.map(({ network, since }) => (
        <Case key={network} since={since}>
          {networkName(network)}
        </Case>
      ));
    case "ENDPOINT_DISABLED":
    case "ENDPOINT_FAILING":
      return need.newest.map(({ webhookId, url, since }) => (
        <Case
          key={webhookId}
          since={since}
          remedy={<EndpointRemedy type={need.type} webhookId={webhookId} url={url} />}
        >
          <span className="mono">{url}</span>
        </Case>
      ));
    case "WALLET_ALTERED":
      return need.newest.map((wallet) => (
        <Case key={wallet.walletId} since={wallet.since} remedy={<DeleteWallet {...wallet} />}>
          <WalletLink {...wallet} />
        </Case>
      ));
    case "WALLET_CHANGE_PENDING":
      return need.newest.map((wallet) => (
        <Case key={wallet.walletId} remedy={<DisableWallet {...wallet} />}>
          <WalletLink {...wallet} />
          {wallet.since !== null && (
            <>
              , changed <Time value={wallet.since} />
            </>
          )}
          , in use from <Time value={wallet.usableFrom} />
        </Case>
      ));
    case "WALLET_GAP":
    case "WALLET_AMOUNTS_LOW":
      return need.newest.map((wallet) => (
        <Case key={wallet.walletId} since={wallet.since}>
          <WalletLink {...wallet} />
        </Case>
      ));
  }
}

type UnmatchedPayment = NeedOf<"PAYMENT_UNMATCHED">["newest"][number];

function PaymentCase({ paymentId, amount, currency, network, since }: UnmatchedPayment) {
  const { id: merchantId } = useMerchant();
  const { coins } = useFormats();
  return (
    <Case at={since}>
      <Anchor component={Link} to={`/console/${merchantId}/payments/${paymentId}`} inherit underline="always">
        {amount === null ? "" : coins(amount)} {coinName(currency, network)}
      </Anchor>
    </Case>
  );
}

type InvoiceNeed = NeedOf<"INVOICE_IN_REVIEW"> | NeedOf<"INVOICE_UNDERPAID">;

function InvoiceCases({ need: { type, newest, count, isMore } }: { readonly need: InvoiceNeed }) {
  const { id: merchantId } = useMerchant();
  return (
    <>
      {newest.map(({ invoiceId, name, externalId, since }) => (
        <Case key={invoiceId} at={since}>
          <Anchor component={Link} to={`/console/${merchantId}/invoices/${invoiceId}`} inherit underline="always">
            {name}
            {externalId !== null && ` (${externalId})`}
          </Anchor>
        </Case>
      ))}
      {(isMore || count > newest.length) && <AllInvoices type={type} />}
    </>
  );
}

/** A link to the wallet's page, which shows the gap and has the recovery export. */
function WalletLink({ walletId, cryptocurrency, network }: Parameters<typeof DisableWallet>[0]) {
  const { id: merchantId } = useMerchant();
  return (
    <Anchor component={Link} to={`/console/${merchantId}/wallets/${walletId}`} inherit underline="always">
      {coinName(cryptocurrency, network)}
    </Anchor>
  );
}

function EndpointRemedy({ type, ...endpoint }: { readonly type: Need["type"] } & Parameters<typeof SwitchOn>[0]) {
  return type === "ENDPOINT_DISABLED" ? <SwitchOn {...endpoint} /> : <PingEndpoint {...endpoint} />;
}

function AllInvoices({ type }: Pick<InvoiceNeed, "type">) {
  const { id: merchantId } = useMerchant();
  const search = type === "INVOICE_IN_REVIEW" ? ({ needsReview: true } as const) : ({ status: "UNDERPAID" } as const);
  return (
    <Anchor
      size="sm"
      underline="always"
      renderRoot={(props) => (
        <Link to="/console/$merchantId/invoices" params={{ merchantId }} search={search} {...props} />
      )}
    >
      Show all
    </Anchor>
  );
}

interface CaseProps {
  /** When it happened. */
  readonly at?: string | null;
  /** When an ongoing condition began. Null if unknown. */
  readonly since?: string | null;
  readonly remedy?: ReactNode;
  readonly children: ReactNode;
}

function Case({ at, since = null, remedy, children }: CaseProps) {
  const time = at ?? since;
  return (
    <Group justify="space-between" gap="xs">
      <Text size="sm" component="div" style={{ flex: "1 1 12rem", overflowWrap: "anywhere" }}>
        {children}
        {time !== null && (
          <Text span size="sm" c="dimmed">
            {at === undefined ? " since " : ", "}
            <Time value={time} />
          </Text>
        )}
      </Text>
      {remedy}
    </Group>
  );
}

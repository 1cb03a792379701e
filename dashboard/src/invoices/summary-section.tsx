import { Anchor, Group, Stack } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Invoice } from "../api/operations.ts";
import { CopyText } from "../shell/copy-text.tsx";
import { useMay } from "../shell/merchants.ts";
import { QrCode } from "../shell/qr-code.tsx";
import { useFormats } from "../shell/reader.tsx";
import { Section } from "../shell/section.tsx";
import { Time } from "../shell/time.tsx";
import { isOpen } from "./columns.tsx";
import { Fact } from "./fact.tsx";

export function SummarySection({ invoice }: { readonly invoice: Invoice }) {
  const { money } = useFormats();
  const maySeeCustomers = useMay("customer:view");
  const maySeeProducts = useMay("product:view");
  const { rawAmount, currency, amountReceived, amountConfirmed, customer, product } = invoice;
  return (
    <Section title="Summary">
      <Stack component="dl" m={0} gap="xs">
        <Fact name="Amount">{isOpen(rawAmount) ? "Any amount" : money(rawAmount, currency)}</Fact>
        <Fact name="Received">{money(amountReceived, currency)}</Fact>
        <Fact name="Confirmed">{money(amountConfirmed, currency)}</Fact>
        <Fact name="Created">
          <Time value={invoice.createdAt} />
        </Fact>
        <Fact name="Expires">
          <Time value={invoice.expiresAt} />
        </Fact>
        {invoice.lateGraceUntil !== null && (
          <Fact name="Late payments count until">
            <Time value={invoice.lateGraceUntil} />
          </Fact>
        )}
        {customer !== null && (
          <Fact name="Customer">
            <LinkIf to={maySeeCustomers && `/console/${invoice.merchantId}/customers/${customer.id}`}>
              {customer.email ?? customer.name ?? customer.id}
            </LinkIf>
          </Fact>
        )}
        {invoice.externalId !== null && <Fact name="Order number">{invoice.externalId}</Fact>}
        {product !== null && (
          <Fact name="Product">
            <LinkIf
              to={
                maySeeProducts && product.deletedAt === null && `/console/${invoice.merchantId}/products/${product.id}`
              }
            >
              {product.name}
            </LinkIf>
          </Fact>
        )}
        {Object.entries(invoice.metadata ?? {}).map(([name, value]) => (
          <Fact key={name} name={name}>
            {value}
          </Fact>
        ))}
        <Fact name="ID">
          <CopyText value={invoice.id} name="the ID" />
        </Fact>
      </Stack>
      {invoice.status === "AWAITING_PAYMENT" && (
        <Group justify="center">
          <QrCode text={invoice.checkoutUrl} label="Payment page QR code" size={150} />
        </Group>
      )}
    </Section>
  );
}

interface LinkIfProps {
  /** The page to which the text links; if false, there is only the text. */
  readonly to: string | false;
  readonly children: string;
}

function LinkIf({ to, children }: LinkIfProps) {
  if (to === false) return children;
  return (
    <Anchor component={Link} to={to} inherit>
      {children}
    </Anchor>
  );
}

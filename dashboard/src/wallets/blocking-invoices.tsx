import { Alert, Anchor, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { reading } from "../api/queries.ts";
import { InvoiceState } from "../invoices/status.tsx";
import { useMay, useMerchant } from "../shell/merchants.ts";

/** Lists the invoices that block the deletion of a wallet. The service returns at most ten of them. */
export function BlockingInvoices({ invoiceIds }: { readonly invoiceIds: readonly string[] }) {
  const maySee = useMay("invoice:view");
  return (
    <Alert color="orange" title="This wallet is used by open invoices" role="alert">
      <Stack gap="xs">
        <Text size="sm">
          Customers may be paying to this wallet right now. Disable it, wait until these invoices are paid or expired,
          or cancel them, then delete it.
        </Text>
        {maySee && invoiceIds.map((id) => <BlockingInvoice key={id} invoiceId={id} />)}
      </Stack>
    </Alert>
  );
}

function BlockingInvoice({ invoiceId }: { readonly invoiceId: string }) {
  const { id: merchantId } = useMerchant();
  const { data } = useQuery(reading("getInvoice", { merchantId, params: { invoiceId } }));
  return (
    <Group justify="space-between" gap="xs">
      <Anchor
        component={Link}
        to={`/console/${merchantId}/invoices/${invoiceId}`}
        size="sm"
        underline="always"
        c="inherit"
        style={{ overflowWrap: "anywhere" }}
      >
        {data?.name ?? invoiceId}
      </Anchor>
      {data !== undefined && <InvoiceState invoice={data} />}
    </Group>
  );
}

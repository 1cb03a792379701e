import { Button, Group } from "@mantine/core";
import { targetOf } from "../api/call.ts";
import type { Wallet } from "../api/operations.ts";
import { Section } from "../shell/section.tsx";

/** Links from which the browser downloads the recovery export directly, because the list may be long and is streamed. */
export function RecoverySection({ wallet: { id: walletId, merchantId } }: { readonly wallet: Wallet }) {
  const linkTo = (format: "csv" | "json") =>
    targetOf("exportRecovery", { merchantId, params: { walletId }, query: { format } }).url;
  return (
    <Section
      title="Recovery"
      about="Every address issued, with its path and invoice, the key's descriptor and the gap limit your wallet software needs to find them all. It contains no secrets."
    >
      <Group>
        <Button component="a" href={linkTo("csv")} download={`${walletId}-recovery.csv`} variant="default">
          Download as CSV
        </Button>
        <Button component="a" href={linkTo("json")} download={`${walletId}-recovery.json`} variant="default">
          Download as JSON
        </Button>
      </Group>
    </Section>
  );
}

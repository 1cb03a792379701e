import { Button, Group } from "@mantine/core";
import { targetOf } from "../api/call.ts";
import type { Wallet } from "../api/operations.ts";
import { Section } from "../shell/section.tsx";

/** The browser downloads it directly: the list may be long, and is streamed. */
export function RecoverySection({ wallet: { id: walletId, merchantId } }: { readonly wallet: Wallet }) {
  const linkTo = (format: "csv" | "json") =>
    targetOf("exportRecovery", { merchantId, params: { walletId }, query: { format } }).url;
  return (
    <Section
      title="Recovery"
      about="Every address that was handed out, with its path and invoice, the descriptor of the key and the gap limit that your wallet software needs to find them all. It holds no secret."
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

import { Button } from "@mantine/core";
import { showDone, useChange } from "../api/queries.ts";

const CONFIRMATIONS = 3;

interface Props {
  /** The merchant that gets a wallet on the chain; undefined if it has one. */
  readonly walletFor: string | undefined;
  readonly onStarted?: () => void;
}

/**
 * Starts a test chain on this machine. If `walletFor` is given, it also registers a new address on the chain as a wallet. Nobody has the address's
 * key, but the coins sent there are worthless.
 */
export function StartChain({ walletFor, onStarted }: Props) {
  const start = useChange("startTestChain", { isRepeatable: false });
  const register = useChange("registerWallet");
  const started = () => {
    showDone("The test chain is running on this machine. You have a wallet on it.");
    onStarted?.();
  };
  const begin = async () => {
    const { network, cryptocurrency } = await start.mutateAsync({ body: { state: "RUNNING" } });
    if (walletFor !== undefined) {
      const pair = { network, cryptocurrency, address: freshAddress(), requiredConfirmations: CONFIRMATIONS };
      await register.mutateAsync({ merchantId: walletFor, body: { walletType: "DIRECT_WALLET", ...pair } });
    }
    started();
  };
  return (
    // The error is ignored here, because useChange shows it.
    <Button loading={start.isPending || register.isPending} onClick={() => void begin().catch(() => undefined)}>
      Start a test chain on this machine
    </Button>
  );
}

function freshAddress(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(20));
  return `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

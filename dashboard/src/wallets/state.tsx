import { Badge } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Wallet } from "../api/operations.ts";
import { reading } from "../api/queries.ts";
import { useMerchant } from "../shell/merchants.ts";
import { Time } from "../shell/time.tsx";

export function WalletState({ wallet: { isEnabled, warnings } }: { readonly wallet: Wallet }) {
  if (warnings.includes("INTEGRITY_CHECK_FAILED")) return <Badge color="red">Altered</Badge>;
  if (!isEnabled) return <Badge color="gray">Disabled</Badge>;
  if (warnings.includes("CHANGE_PENDING")) return <Badge color="yellow">Not in use yet</Badge>;
  return <Badge color="green">In use</Badge>;
}

/** Whether payments to the wallet are currently detected. */
export function NetworkHealth({ wallet: { network, warnings } }: { readonly wallet: Wallet }) {
  const { id: merchantId } = useMerchant();
  const { data } = useQuery(reading("getAttention", { merchantId }));
  if (warnings.includes("NETWORK_NOT_WATCHED")) return <Badge color="red">Not watched</Badge>;
  const lagging = (data?.data ?? [])
    .flatMap((need) => (need.type === "NETWORK_LAGGING" ? need.newest : []))
    .find((each) => each.network === network);
  if (lagging === undefined) return data !== undefined && <Badge color="green">Watched</Badge>;
  return (
    <>
      <Badge color="orange">Behind</Badge>
      {lagging.since !== null && (
        <>
          {" "}
          since <Time value={lagging.since} />
        </>
      )}
    </>
  );
}

import type { Wallet } from "../api/operations.ts";
import { useList } from "../api/queries.ts";
import { Read } from "../shell/read.tsx";
import { Section } from "../shell/section.tsx";
import { AddressTable } from "./address-table.tsx";

const COMPARED = 5;

export function AddressesSection({ wallet: { merchantId, id: walletId } }: { readonly wallet: Wallet }) {
  const preview = useList("previewAddresses", { merchantId, params: { walletId }, query: { count: COMPARED } });
  return (
    <Section
      title="First addresses"
      about="Your wallet software should show the same addresses. If it does not, the key or path is wrong: disable the wallet."
    >
      <Read query={preview}>{({ data }) => <AddressTable addresses={data} />}</Read>
    </Section>
  );
}

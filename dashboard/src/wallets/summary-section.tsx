import { Stack } from "@mantine/core";
import type { Wallet } from "../api/operations.ts";
import { Fact } from "../invoices/fact.tsx";
import { CopyText } from "../shell/copy-text.tsx";
import { shortened } from "../shell/formats.ts";
import { ChainAddress } from "../shell/on-chain.tsx";
import { Section } from "../shell/section.tsx";
import { Time } from "../shell/time.tsx";
import { useLastAddress } from "./last-address.tsx";
import { NetworkHealth } from "./state.tsx";
import { Confirmations, Gap } from "./wallet-rows.tsx";

export function SummarySection({ wallet }: { readonly wallet: Wallet }) {
  const lastAddress = useLastAddress(wallet);
  const { xpub, address, network, derivationPath, scheme } = wallet;
  return (
    <Section title="Summary">
      <Stack component="dl" m={0} gap="xs">
        {address !== null && (
          <Fact name="Address">
            <ChainAddress network={network} address={address} name="the address" />
          </Fact>
        )}
        {xpub !== null && (
          <Fact name="Extended key">
            <CopyText value={xpub} shown={shortened(xpub)} name="the extended key" />
          </Fact>
        )}
        {derivationPath !== null && (
          <Fact name="Path">
            <span className="mono">{derivationPath}</span>
            {scheme !== null && `, ${scheme}`}
          </Fact>
        )}
        {wallet.nextIndex !== null && (
          <Fact name="Last address">
            {lastAddress === undefined ? (
              "None yet"
            ) : (
              <ChainAddress network={network} address={lastAddress} name="the last address" />
            )}
          </Fact>
        )}
        {wallet.nextIndex !== null && <Fact name="Next index">{wallet.nextIndex}</Fact>}
        {wallet.gap !== null && (
          <Fact name="Consecutive unused addresses">
            <Gap wallet={wallet} />
          </Fact>
        )}
        <Fact name="Confirmations">
          <Confirmations wallet={wallet} />
        </Fact>
        <Fact name="Network">
          <NetworkHealth wallet={wallet} />
        </Fact>
        <Fact name="Added">
          <Time value={wallet.createdAt} />
        </Fact>
        <Fact name="ID">
          <CopyText value={wallet.id} name="the ID" />
        </Fact>
      </Stack>
    </Section>
  );
}

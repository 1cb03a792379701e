import { Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { reading } from "../api/queries.ts";
import { useMay, useMerchant } from "../shell/merchants.ts";
import { PageHeader } from "../shell/page-header.tsx";
import { Read } from "../shell/read.tsx";
import { BrandSection } from "./brand-section.tsx";
import { DeleteSection } from "./delete-section.tsx";
import { FramesSection } from "./frames-section.tsx";
import { LimitsSection } from "./limits-section.tsx";
import { MailsSection } from "./mails-section.tsx";
import { NameSection } from "./name-section.tsx";
import { TimesSection } from "./times-section.tsx";
import { TolerancesSection } from "./tolerances-section.tsx";
import { WalletDelaySection } from "./wallet-delay-section.tsx";

export function SettingsPage() {
  const { id: merchantId, role } = useMerchant();
  const mayChange = useMay("merchant:update");
  const settings = useQuery(reading("getSettings", { merchantId }));
  return (
    <>
      <PageHeader
        title="Settings"
        subtitle={`An invoice keeps the settings that it was made with.${mayChange ? "" : " Your role may see them, and not change them."}`}
      />
      <Stack gap="lg" key={merchantId}>
        <NameSection />
        <Read query={settings}>
          {(read) => (
            <>
              <BrandSection settings={read} />
              <TolerancesSection settings={read} />
              <TimesSection settings={read} />
              <MailsSection settings={read} />
              <WalletDelaySection settings={read} />
              <FramesSection settings={read} />
              <LimitsSection settings={read} />
            </>
          )}
        </Read>
        {role === "OWNER" && <DeleteSection />}
      </Stack>
    </>
  );
}

import { Flex, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useLocation } from "@tanstack/react-router";
import { useEffect } from "react";
import type { Settings } from "../api/operations.ts";
import { reading } from "../api/queries.ts";
import { useMay, useMerchant } from "../shell/merchants.ts";
import { PageHeader } from "../shell/page-header.tsx";
import { Read } from "../shell/read.tsx";
import { BrandSection } from "./brand-section.tsx";
import { Contents } from "./contents.tsx";
import { DeleteSection } from "./delete-section.tsx";
import { FramesSection } from "./frames-section.tsx";
import { LimitsSection } from "./limits-section.tsx";
import { MailsSection } from "./mails-section.tsx";
import { NameSection } from "./name-section.tsx";
import { PARTS, type Part } from "./parts.ts";
import { TimesSection } from "./times-section.tsx";
import { TolerancesSection } from "./tolerances-section.tsx";
import { WalletDelaySection } from "./wallet-delay-section.tsx";

const ALL_PARTS = Object.keys(PARTS).filter(isPart);

function isPart(name: string): name is Part {
  return Object.hasOwn(PARTS, name);
}

export function SettingsPage() {
  const { id: merchantId, role } = useMerchant();
  const mayChange = useMay("merchant:update");
  const parts = ALL_PARTS.filter((part) => part !== "delete" || role === "OWNER");
  const settings = useQuery(reading("getSettings", { merchantId }));
  return (
    <>
      <PageHeader
        title="Settings"
        subtitle={`Changes apply to new invoices; an invoice keeps the settings it was created with.${mayChange ? "" : " Your role can view settings but not change them."}`}
      />
      <Flex gap="xl" align="flex-start" direction={{ base: "column", md: "row" }}>
        <Contents parts={parts} />
        <Stack gap="lg" key={merchantId} flex={1} miw={0} w="100%">
          <NameSection />
          <Read query={settings}>{(read) => <Parts settings={read} />}</Read>
          {role === "OWNER" && <DeleteSection />}
        </Stack>
      </Flex>
    </>
  );
}

function Parts({ settings }: { readonly settings: Settings }) {
  const { hash } = useLocation();
  // The parts do not exist yet when the browser looks for the anchor in the address.
  useEffect(() => {
    if (isPart(hash)) document.getElementById(hash)?.scrollIntoView();
  }, [hash]);
  return (
    <>
      <BrandSection settings={settings} />
      <TolerancesSection settings={settings} />
      <TimesSection settings={settings} />
      <MailsSection settings={settings} />
      <WalletDelaySection settings={settings} />
      <FramesSection settings={settings} />
      <LimitsSection settings={settings} />
    </>
  );
}

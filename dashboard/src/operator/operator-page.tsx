import { Stack } from "@mantine/core";
import { PageHeader } from "../shell/page-header.tsx";
import { KeysSection } from "./keys-section.tsx";
import { MerchantsSection } from "./merchants-section.tsx";
import { NetworksSection } from "./networks-section.tsx";
import { NewSourcesSection } from "./new-sources-section.tsx";
import { OperatorsSection } from "./operators-section.tsx";
import { StatusSection } from "./status-section.tsx";

/** The page for operators of the deployment. It gives no access to merchants' data. */
export function OperatorPage() {
  return (
    <>
      <PageHeader title="Operator" subtitle="How this deployment is doing, and what to do when something is wrong." />
      <Stack gap="lg" maw={960}>
        <StatusSection />
        <NetworksSection />
        <NewSourcesSection />
        <MerchantsSection />
        <OperatorsSection />
        <KeysSection />
      </Stack>
    </>
  );
}

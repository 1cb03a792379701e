// Everything that a shop's own software needs: keys to call the API, endpoints for events, and the deliveries they received.
import { Button, Tabs } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { Icon } from "../shell/icons.tsx";
import { PageHeader } from "../shell/page-header.tsx";
import { Loading } from "../shell/problem.tsx";
import { KeysSection } from "./keys-section.tsx";
import { isTab, TABS } from "./search.ts";

// Each section has its own tab, and is loaded when the tab is opened.
const EndpointsSection = lazy(async () => ({ default: (await import("./endpoints-section.tsx")).EndpointsSection }));
const EventsSection = lazy(async () => ({ default: (await import("./events-section.tsx")).EventsSection }));

export function DevelopersPage() {
  const search = useSearch({ from: "/frame/merchant/console/$merchantId/developers" });
  const navigate = useNavigate({ from: "/console/$merchantId/developers" });
  const open = (tab: string | null) => navigate({ search: isTab(tab) && tab !== "keys" ? { tab } : {} });
  return (
    <>
      <PageHeader
        title="Developers"
        subtitle="Connect your shop: API keys, webhooks and events."
        actions={
          <Button
            component="a"
            href="/docs"
            target="_blank"
            variant="default"
            rightSection={<Icon name="out" size={15} />}
          >
            API reference
          </Button>
        }
      />
      <Tabs value={search.tab ?? "keys"} onChange={open} keepMounted={false}>
        <Tabs.List mb="lg" aria-label="Sections">
          {Object.entries(TABS).map(([tab, name]) => (
            <Tabs.Tab key={tab} value={tab}>
              {name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="keys">
          <KeysSection />
        </Tabs.Panel>
        <Tabs.Panel value="endpoints">
          <Suspense fallback={<Loading />}>
            <EndpointsSection />
          </Suspense>
        </Tabs.Panel>
        <Tabs.Panel value="events">
          <Suspense fallback={<Loading />}>
            <EventsSection search={search} />
          </Suspense>
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

import { Button, Card, Group, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { NewWebhook, Webhook } from "../api/operations.ts";
import { useList } from "../api/queries.ts";
import { EndpointHealth } from "../endpoint/health.tsx";
import { Icon } from "../shell/icons.tsx";
import { useMay, useMerchant } from "../shell/merchants.ts";
import { Read } from "../shell/read.tsx";
import { Section } from "../shell/section.tsx";
import { ShownOnce } from "../shell/shown-once.tsx";
import { EndpointForm } from "./endpoint-form.tsx";
import { subscriptionText } from "./subscription-text.ts";

export function EndpointsSection() {
  const { id: merchantId } = useMerchant();
  const mayCreate = useMay("webhook:create");
  const navigate = useNavigate();
  const [isCreating, creating] = useDisclosure();
  const [made, setMade] = useState<NewWebhook>();
  const endpoints = useList("listWebhooks", { merchantId });
  const kept = () => {
    const webhookId = made?.id ?? "";
    setMade(undefined);
    void navigate({ to: "/console/$merchantId/developers/endpoints/$webhookId", params: { merchantId, webhookId } });
  };
  return (
    <Section
      title="Endpoints"
      about="Your webhooks: URLs that receive signed requests when something happens. Failed deliveries are retried for several days."
      actions={
        mayCreate && (
          <Button size="sm" leftSection={<Icon name="plus" size={16} />} onClick={creating.open}>
            New endpoint
          </Button>
        )
      }
    >
      <Read query={endpoints}>
        {(all) => (
          <Stack gap="xs">
            {all.length === 0 && (
              <Text c="dimmed">
                No endpoints yet. Add the URL where your server should be notified when an invoice is paid.
              </Text>
            )}
            {all.map((endpoint) => (
              <EndpointCard key={endpoint.id} endpoint={endpoint} />
            ))}
          </Stack>
        )}
      </Read>
      <EndpointForm isOpen={isCreating} onClose={creating.close} onMade={setMade} />
      <ShownOnce title="Signing secret" secret={made?.secret} name="the secret" onKept={kept}>
        Your server uses it to verify that requests come from Edgetill. It works with any Standard Webhooks library.
      </ShownOnce>
    </Section>
  );
}

function EndpointCard({ endpoint }: { readonly endpoint: Webhook }) {
  const { id, merchantId, url, description, events } = endpoint;
  return (
    <Card padding="md" className="row-card">
      <Group justify="space-between" align="flex-start" gap="xs">
        <Stack gap={2} style={{ flex: "1 1 14rem" }} miw={0}>
          <Link
            className="row-link"
            to="/console/$merchantId/developers/endpoints/$webhookId"
            params={{ merchantId, webhookId: id }}
          >
            <Text span size="sm" className="mono">
              {url}
            </Text>
          </Link>
          <Text size="sm" c="dimmed">
            {[description, subscriptionText(events)].filter(Boolean).join(". ")}
          </Text>
        </Stack>
        <EndpointHealth endpoint={endpoint} />
      </Group>
    </Card>
  );
}

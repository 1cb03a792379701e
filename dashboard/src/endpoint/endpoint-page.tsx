// One endpoint: its health, its deliveries and its answers, and the available actions.
import { Alert, Anchor, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import type { Webhook } from "../api/operations.ts";
import { reading } from "../api/queries.ts";
import { subscriptionText } from "../developers/subscription-text.ts";
import { Fact } from "../invoices/fact.tsx";
import { CopyText } from "../shell/copy-text.tsx";
import { useMerchant } from "../shell/merchants.ts";
import { PageHeader } from "../shell/page-header.tsx";
import { Read } from "../shell/read.tsx";
import { useFormats } from "../shell/reader.tsx";
import { Section } from "../shell/section.tsx";
import { Time } from "../shell/time.tsx";
import { DeliveriesSection, READ_NEWER_MS } from "./deliveries-section.tsx";
import { EndpointActions } from "./endpoint-actions.tsx";
import { EndpointHealth } from "./health.tsx";

export function EndpointPage() {
  const { id: merchantId } = useMerchant();
  const { webhookId = "" } = useParams({ strict: false });
  const search = useSearch({ from: "/frame/merchant/console/$merchantId/developers/endpoints/$webhookId" });
  const endpoint = useQuery({
    ...reading("getWebhook", { merchantId, params: { webhookId } }),
    refetchInterval: READ_NEWER_MS,
  });
  return (
    <Stack gap={0}>
      <Anchor
        size="sm"
        mb="xs"
        renderRoot={(props) => (
          <Link {...props} to="/console/$merchantId/developers" params={{ merchantId }} search={{ tab: "endpoints" }} />
        )}
      >
        All endpoints
      </Anchor>
      <Read query={endpoint}>
        {(read) => (
          <>
            <PageHeader
              title={new URL(read.url).host}
              mark={<EndpointHealth endpoint={read} />}
              actions={<EndpointActions endpoint={read} />}
            />
            <Stack gap="lg">
              <Trouble endpoint={read} />
              <SummarySection endpoint={read} />
              <DeliveriesSection endpoint={read} search={search} />
            </Stack>
          </>
        )}
      </Read>
    </Stack>
  );
}

const OFF_BECAUSE = {
  GONE: "It responded with 410 Gone, which means that it no longer accepts events.",
  FAILING: "Every delivery to it failed for five days.",
} as const;

function Trouble({ endpoint }: { readonly endpoint: Webhook }) {
  const { isActive, disabledReason, disabledAt, failuresInRow, failingSince } = endpoint;
  const { count } = useFormats();
  if (disabledReason !== null && disabledAt !== null) {
    return (
      <Alert color="red" title="This endpoint was turned off">
        {OFF_BECAUSE[disabledReason]} It was turned off <Time value={disabledAt} />. Fix it and turn it on again: events
        since then are kept for up to 30 days and sent once it is on again.
      </Alert>
    );
  }
  if (!isActive || failuresInRow === 0) return null;
  return (
    <Alert color="orange" title="This endpoint is failing">
      {failuresInRow === 1 ? "The last attempt failed" : `The last ${count(failuresInRow)} attempts have failed`}
      {failingSince !== null && (
        <>
          {failuresInRow === 1 ? " at " : ", starting "}
          <Time value={failingSince} />
        </>
      )}
      . Failed deliveries are retried automatically. Check the responses below, fix the endpoint, then send a ping.
    </Alert>
  );
}

function SummarySection({ endpoint }: { readonly endpoint: Webhook }) {
  const { id, url, events, description, retryCount, timeout, webhookSecrets, createdAt } = endpoint;
  const { duration } = useFormats();
  const secrets = webhookSecrets.filter(({ isActive }) => isActive);
  return (
    <Section title="Summary">
      <Stack component="dl" gap="xs" m={0}>
        <Fact name="URL">
          <CopyText value={url} name="the URL" />
        </Fact>
        {description !== null && <Fact name="Description">{description}</Fact>}
        <Fact name="Events">{subscriptionText(events)}</Fact>
        <Fact name="Attempts">
          Up to {retryCount + 1}, each with a timeout of {duration(timeout / 1_000)}
        </Fact>
        <Fact name={secrets.length === 1 ? "Secret" : "Secrets"}>
          {secrets.map((secret) => (
            <Text key={secret.id} inherit component="span" display="block">
              <span className="mono">{secret.secretKeyPreview}</span>
              {secret.expiresAt !== null && (
                <>
                  , expires <Time value={secret.expiresAt} />
                </>
              )}
            </Text>
          ))}
        </Fact>
        <Fact name="Created">
          <Time value={createdAt} />
        </Fact>
        <Fact name="ID">
          <CopyText value={id} name="the ID" />
        </Fact>
      </Stack>
    </Section>
  );
}

import { Badge, Button, Group, Stack, Text } from "@mantine/core";
import type { Delivery } from "../api/operations.ts";
import { showDone, useChange, useList } from "../api/queries.ts";
import { useMay } from "../shell/merchants.ts";
import { Read } from "../shell/read.tsx";
import { Time } from "../shell/time.tsx";

export const DELIVERY_STATES = {
  PENDING: { name: "Pending", color: "blue" },
  SUCCEEDED: { name: "Delivered", color: "green" },
  FAILED: { name: "Failed", color: "red" },
} as const;

/** How often deliveries are read while one is pending; live updates cover events, not their deliveries. */
export const READ_AGAIN_MS = 5_000;

interface Props {
  readonly merchantId: string;
  readonly eventId: string;
}

export function EventDeliveries({ merchantId, eventId }: Props) {
  const endpoints = useList("listWebhooks", { merchantId });
  const deliveries = useList(
    "listEventDeliveries",
    { merchantId, params: { eventId } },
    (read) => read?.data.some(({ status }) => status === "PENDING") === true && READ_AGAIN_MS,
  );
  const urlOf = (webhookId: string) => endpoints.data?.find(({ id }) => id === webhookId)?.url ?? webhookId;
  return (
    <Read query={deliveries}>
      {({ data }) => (
        <Stack gap="md">
          {data.length === 0 && (
            <Text size="sm" c="dimmed">
              No endpoint subscribes to this event.
            </Text>
          )}
          {data.map((delivery) => (
            <OneDelivery
              key={delivery.id}
              merchantId={merchantId}
              delivery={delivery}
              url={urlOf(delivery.webhookId)}
            />
          ))}
        </Stack>
      )}
    </Read>
  );
}

interface OneProps {
  readonly merchantId: string;
  readonly delivery: Delivery;
  readonly url: string;
}

function OneDelivery({ merchantId, delivery, url }: OneProps) {
  const mayUpdate = useMay("webhook:update");
  const again = useChange("redeliver", { onSuccess: () => showDone("Sending the event again.") });
  const { id: deliveryId, webhookId, status, attempts, nextAttemptAt } = delivery;
  return (
    <Group justify="space-between" align="flex-start" gap="xs">
      <Stack gap={2} style={{ flex: "1 1 14rem" }}>
        <Text size="sm" className="mono">
          {url}
        </Text>
        <Text size="sm" c="dimmed" component="div">
          {attempts === 0
            ? "Not attempted yet"
            : `${attempts} ${attempts === 1 ? "attempt" : "attempts"}, ${lastOf(delivery)}`}
          {nextAttemptAt !== null && (
            <>
              . Next at <Time value={nextAttemptAt} />
            </>
          )}
        </Text>
      </Stack>
      <Group gap="xs">
        <Badge color={DELIVERY_STATES[status].color}>{DELIVERY_STATES[status].name}</Badge>
        {mayUpdate && (
          <Button
            size="compact-sm"
            variant="default"
            loading={again.isPending}
            onClick={() => again.mutate({ merchantId, params: { webhookId, deliveryId } })}
            aria-label={`Send again to ${url}`}
          >
            Send again
          </Button>
        )}
      </Group>
    </Group>
  );
}

/** Why there was no answer (notifications/deliveries/round.ts). */
const NO_ANSWER: Readonly<Record<string, string>> = {
  TIMEOUT: "timed out",
  CONNECTION_FAILED: "no connection",
  URL_REFUSED: "not a public address",
  RESOLVE_FAILED: "host not found",
};

export function isDeliveryState(value: unknown): value is Delivery["status"] {
  return typeof value === "string" && Object.hasOwn(DELIVERY_STATES, value);
}

export function noAnswerText(error: string | null): string {
  return NO_ANSWER[error ?? ""] ?? "no response";
}

/** `last response 500 in 12 ms` */
export function lastOf({ lastAttempt }: Pick<Delivery, "lastAttempt">): string {
  if (lastAttempt === null) return "last response no longer stored";
  const { statusCode, error, latencyMs } = lastAttempt;
  return statusCode === null
    ? `last one failed: ${noAnswerText(error)}`
    : `last response ${statusCode} in ${latencyMs} ms`;
}

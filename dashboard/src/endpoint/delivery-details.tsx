import { Badge, Button, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Delivery, DeliveryAttempt } from "../api/operations.ts";
import { reading, showDone, useChange, useList } from "../api/queries.ts";
import { EventBody } from "../developers/event-body.tsx";
import { noAnswerText, READ_AGAIN_MS } from "../invoices/event-deliveries.tsx";
import { CodeBlock } from "../shell/code-block.tsx";
import { useMay } from "../shell/merchants.ts";
import { Read } from "../shell/read.tsx";
import { Time } from "../shell/time.tsx";

const TALLEST = 240;

interface Props {
  readonly merchantId: string;
  readonly delivery: Delivery;
}

/** The sent body, and every stored answer. */
export function DeliveryDetails({ merchantId, delivery }: Props) {
  const { id: deliveryId, webhookId, eventId } = delivery;
  const details = useList(
    "getDelivery",
    { merchantId, params: { webhookId, deliveryId } },
    (read) => read?.status === "PENDING" && READ_AGAIN_MS,
  );
  const event = useQuery(reading("getEvent", { merchantId, params: { eventId } }));
  return (
    <Stack>
      <Read query={details}>
        {({ attemptLog, nextAttemptAt }) => (
          <Stack>
            <Group justify="space-between">
              <Text size="sm" c="dimmed" component="div">
                {attemptLog.length === 0 && "Not attempted yet. "}
                {nextAttemptAt !== null && (
                  <>
                    Next attempt at <Time value={nextAttemptAt} />
                  </>
                )}
              </Text>
              <SendAgain merchantId={merchantId} delivery={delivery} />
            </Group>
            {attemptLog.map((attempt) => (
              <Attempt key={attempt.number} attempt={attempt} />
            ))}
          </Stack>
        )}
      </Read>
      <Read query={event}>{(read) => <EventBody event={read} />}</Read>
    </Stack>
  );
}

function SendAgain({ merchantId, delivery: { id: deliveryId, webhookId, eventType } }: Props) {
  const again = useChange("redeliver", { onSuccess: () => showDone("Sending the event again.") });
  if (!useMay("webhook:update")) return null;
  return (
    <Button
      size="xs"
      variant="default"
      loading={again.isPending}
      aria-label={`Send again: ${eventType}`}
      onClick={() => again.mutate({ merchantId, params: { webhookId, deliveryId } })}
    >
      Send again
    </Button>
  );
}

function Attempt({ attempt }: { readonly attempt: DeliveryAttempt }) {
  const { number, at, statusCode, error, latencyMs, requestHeaders, response } = attempt;
  const isTaken = statusCode !== null && statusCode >= 200 && statusCode < 300;
  const headers = Object.entries(requestHeaders).map(([name, value]) => `${name}: ${value}`);
  return (
    <Stack gap={4}>
      <Group gap="xs">
        <Text size="sm" fw={600}>
          Attempt {number}
        </Text>
        <Badge color={isTaken ? "green" : "red"}>{statusCode ?? noAnswerText(error)}</Badge>
        <Text size="sm" c="dimmed" component="div">
          in {latencyMs} ms, <Time value={at} />
        </Text>
      </Group>
      {headers.length > 0 && (
        <CodeBlock name={`Headers of attempt ${number}`} code={headers.join("\n")} tallest={TALLEST} />
      )}
      {response !== null && response !== "" && (
        <>
          <Text size="sm" c="dimmed">
            Response
          </Text>
          <CodeBlock name={`Response to attempt ${number}`} code={response} tallest={TALLEST} />
        </>
      )}
    </Stack>
  );
}

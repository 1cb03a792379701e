// Sends a test alert, shows what each channel answered, and records whether it arrived. Without a test, operators would learn only in an emergency
// that alerts do not arrive.
import { Alert, Button, Group, List, Stack, Text } from "@mantine/core";
import type { AlertProof, TestAlert } from "../api/operations.ts";
import { showDone, useChange } from "../api/queries.ts";
import { Time } from "../shell/time.tsx";

export function AlertsPart({ alerts }: { readonly alerts: AlertProof }) {
  const test = useChange("sendTestAlert", { isRepeatable: false });
  const record = useChange("recordAlertProof", {
    onSuccess: ({ state }) =>
      showDone(state === "PROVED" ? "Alerts are confirmed to arrive." : "The warning is dismissed."),
  });
  const isUnproved = alerts.state === "UNPROVED";
  const isWithdrawn = isUnproved && alerts.provedAt !== null;
  return (
    <Stack gap="sm" align="flex-start">
      {isUnproved && (
        <Alert
          color="yellow"
          title={
            isWithdrawn ? "Nobody has confirmed that alerts still arrive" : "Nobody has confirmed that alerts arrive"
          }
          w="100%"
        >
          {isWithdrawn && "The mail or webhook settings have changed since a test alert arrived. "}
          Operators are alerted by email, and by webhook if one is configured, when something is wrong. Send a test
          alert, then confirm that it arrived.
        </Alert>
      )}
      {alerts.provedAt !== null && (
        <Text size="sm" c="dimmed">
          A test alert was last confirmed to have arrived on <Time value={alerts.provedAt} />.
        </Text>
      )}
      <Group gap="sm">
        <Button variant="default" size="xs" loading={test.isPending} onClick={() => test.mutate({})}>
          Send test alert
        </Button>
        {isConfirmable(alerts) && (
          <Button size="xs" loading={record.isPending} onClick={() => record.mutate({ body: { outcome: "ARRIVED" } })}>
            It arrived
          </Button>
        )}
        {isUnproved && (
          <Button
            variant="subtle"
            size="xs"
            disabled={record.isPending}
            onClick={() => record.mutate({ body: { outcome: "DISMISSED" } })}
          >
            Dismiss the warning
          </Button>
        )}
      </Group>
      {test.data !== undefined && <Outcome {...test.data} />}
    </Stack>
  );
}

/** Whether a test alert with these settings was accepted since the last confirmation. */
function isConfirmable({ state, testAcceptedAt, provedAt }: AlertProof): boolean {
  if (testAcceptedAt === null) return false;
  return state !== "PROVED" || provedAt === null || Date.parse(provedAt) < Date.parse(testAcceptedAt);
}

export function isAnyAccepted({ mails, webhook }: TestAlert): boolean {
  return webhook?.isAccepted === true || mails.some(({ isAccepted }) => isAccepted);
}

/** Shows the answer of each channel. */
export function Outcome({ isMailConfigured, mails, webhook }: TestAlert) {
  if (!isMailConfigured && webhook === null) {
    return (
      <Alert color="red" role="status" title="Alerts are not sent">
        Email is not configured: set MAIL_PROVIDER and MAIL_FROM, or ALERT_WEBHOOK_URL for an on-call tool, and deploy.
        Until then, problems are reported only at /healthz.
      </Alert>
    );
  }
  const isWell = [...mails, ...(webhook === null ? [] : [webhook])].every(({ isAccepted }) => isAccepted);
  return (
    <Alert
      color={isWell ? "green" : "red"}
      role="status"
      title={isWell ? "Alert sent. Check that it arrived" : "Some alerts were not sent"}
    >
      <List size="sm">
        {!isMailConfigured && <List.Item>Email: not configured (MAIL_PROVIDER)</List.Item>}
        {mails.map(({ email, problem }) => (
          <List.Item key={email} style={{ overflowWrap: "anywhere" }}>
            {email}: {problem ?? "accepted by the mail provider"}
          </List.Item>
        ))}
        {webhook !== null && (
          <List.Item style={{ overflowWrap: "anywhere" }}>
            {webhook.host ?? "Webhook"}: {webhook.problem ?? `accepted with status ${webhook.statusCode}`}
          </List.Item>
        )}
      </List>
    </Alert>
  );
}

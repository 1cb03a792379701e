// A test of alerts: an alert that nobody gets is found out when it is needed.
import { Alert, Button, List, Stack } from "@mantine/core";
import type { TestAlert } from "../api/operations.ts";
import { useChange } from "../api/queries.ts";

export function TestAlertButton() {
  const test = useChange("sendTestAlert", { isRepeatable: false });
  return (
    <Stack gap="sm" align="flex-start">
      <Button variant="default" size="xs" loading={test.isPending} onClick={() => test.mutate({})}>
        Send a test alert
      </Button>
      {test.data !== undefined && <Outcome {...test.data} />}
    </Stack>
  );
}

function Outcome({ isMailConfigured, mails }: TestAlert) {
  if (!isMailConfigured) {
    return (
      <Alert color="red" role="status" title="No alert is ever sent">
        Mail is not configured: set MAIL_PROVIDER and MAIL_FROM. Until then only who asks /healthz learns that something
        is wrong.
      </Alert>
    );
  }
  const isWell = mails.every(({ isAccepted }) => isAccepted);
  return (
    <Alert
      color={isWell ? "green" : "red"}
      role="status"
      title={isWell ? "Sent: look into the mailbox" : "Not sent to all"}
    >
      <List size="sm">
        {mails.map(({ email, problem }) => (
          <List.Item key={email} style={{ overflowWrap: "anywhere" }}>
            {email}: {problem ?? "the mail provider took it"}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}

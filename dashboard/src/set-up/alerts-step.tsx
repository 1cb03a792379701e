// A step of a set-up: the new operator sends a test alert, and confirms that it arrived. It can be skipped.
import { Alert, Button, Stack, Text } from "@mantine/core";
import { withRequestId } from "../api/errors.ts";
import { useChange } from "../api/queries.ts";
import { isAnyAccepted, Outcome } from "../operator/test-alert.tsx";
import { Entrance } from "../sign-in/entrance.tsx";

export function AlertsStep({ onDone }: { readonly onDone: () => void }) {
  const test = useChange("sendTestAlert", { isRepeatable: false, isShownInPlace: true });
  const record = useChange("recordAlertProof", { isShownInPlace: true, onSuccess: onDone });
  const isAccepted = test.data !== undefined && isAnyAccepted(test.data);
  const error = test.error ?? record.error;
  return (
    <Entrance
      title="Check that alerts reach you"
      about="Edgetill alerts you when something is wrong, by email and by webhook if one is configured."
    >
      <Stack>
        {test.data !== undefined && <Outcome {...test.data} />}
        {error !== null && (
          <Alert color="red" role="alert">
            {withRequestId(error)}
          </Alert>
        )}
        {isAccepted && (
          <>
            <Text size="sm">
              Look into your mailbox, also its spam folder, and at your on-call tool if alerts go there.
            </Text>
            <Button loading={record.isPending} onClick={() => record.mutate({ body: { outcome: "ARRIVED" } })}>
              It arrived
            </Button>
          </>
        )}
        <Button
          variant={test.data === undefined ? "filled" : "default"}
          loading={test.isPending}
          onClick={() => test.mutate({})}
        >
          {test.data === undefined ? "Send test alert" : "Send another test alert"}
        </Button>
        <Button variant="subtle" onClick={onDone}>
          Skip for now
        </Button>
        <Text size="sm" c="dimmed">
          You can do this later on the Operator page, which shows a warning until then.
        </Text>
      </Stack>
    </Entrance>
  );
}

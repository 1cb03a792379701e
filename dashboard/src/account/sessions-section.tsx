import { Badge, Group, Stack, Text } from "@mantine/core";
import type { Session } from "../api/operations.ts";
import { showDone, useChange, useList } from "../api/queries.ts";
import { ConfirmButton } from "../shell/confirm.tsx";
import { Read } from "../shell/read.tsx";
import { Section } from "../shell/section.tsx";
import { Time } from "../shell/time.tsx";
import { browserName } from "./browser-name.ts";

const METHODS = { email_code: "an email code", google: "Google", github: "GitHub", passkey: "a passkey" } as const;

export function SessionsSection() {
  const sessions = useList("listSessions", { query: { limit: 100 } });
  const endOthers = useChange("revokeOtherSessions", { onSuccess: () => showDone("All other sessions ended.") });
  return (
    <Section
      title="Sessions"
      about="Where you are signed in."
      actions={
        (sessions.data?.data.length ?? 0) > 1 && (
          <ConfirmButton
            action="End all other sessions"
            isBusy={endOthers.isPending}
            consequence="This signs out every browser except this one."
            onConfirmed={() => endOthers.mutate({})}
          />
        )
      }
    >
      <Read query={sessions}>{({ data }) => data.map((each) => <SessionRow key={each.id} session={each} />)}</Read>
    </Section>
  );
}

function SessionRow({ session }: { readonly session: Session }) {
  const end = useChange("revokeSession", { onSuccess: () => showDone("Session ended.") });
  const name = browserName(session.userAgent);
  return (
    <Group justify="space-between">
      <Stack gap={2} style={{ flex: "1 1 14rem" }}>
        <Group gap="xs">
          <Text fw={600}>{name}</Text>
          {session.isCurrent && <Badge color="green">This browser</Badge>}
        </Group>
        <Text size="sm" c="dimmed" component="div">
          Signed in with {METHODS[session.signedInWith]} <Time value={session.createdAt} />, last seen{" "}
          <Time value={session.lastSeenAt} />
          {session.ip !== null && ` from ${session.ip}`}
        </Text>
      </Stack>
      {!session.isCurrent && (
        <ConfirmButton
          action="End"
          subject={name}
          size="xs"
          isBusy={end.isPending}
          consequence="This signs that browser out."
          onConfirmed={() => end.mutate({ params: { sessionId: session.id } })}
        />
      )}
    </Group>
  );
}

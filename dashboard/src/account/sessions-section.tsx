import { Badge, Group, Stack, Text } from "@mantine/core";
import type { Session } from "../api/operations.ts";
import { showDone, useChange, useList } from "../api/queries.ts";
import { ConfirmButton } from "../shell/confirm.tsx";
import { Read } from "../shell/read.tsx";
import { Section } from "../shell/section.tsx";
import { Time } from "../shell/time.tsx";
import { browserName } from "./browser-name.ts";

const METHODS = { email_code: "a mailed code", google: "Google", github: "GitHub", passkey: "a passkey" } as const;

export function SessionsSection() {
  const sessions = useList("listSessions", { query: { limit: 100 } });
  const endOthers = useChange("revokeOtherSessions", { onSuccess: () => showDone("All other sessions have ended.") });
  return (
    <Section
      title="Sessions"
      about="Browsers in which you are signed in."
      actions={
        (sessions.data?.data.length ?? 0) > 1 && (
          <ConfirmButton
            action="End all others"
            isBusy={endOthers.isPending}
            consequence="Every browser but this one is signed out."
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
  const end = useChange("revokeSession", { onSuccess: () => showDone("The session has ended.") });
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
          consequence="That browser is signed out."
          onConfirmed={() => end.mutate({ params: { sessionId: session.id } })}
        />
      )}
    </Group>
  );
}

// What an invitation's mail links to, with its token in the fragment; without one, the invitations that wait for the signed-in user.
import { Button, Card, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { Me } from "../api/operations.ts";
import { reading, showDone, useChange } from "../api/queries.ts";
import { Loading, Problem } from "../shell/problem.tsx";
import { Entrance } from "../sign-in/entrance.tsx";
import { Gate } from "../sign-in/gate.tsx";
import { mailedToken } from "../sign-in/mailed-token.ts";

export function InvitationsPage() {
  return (
    <Entrance title="Invitation to a team">
      <Gate here="/invitations">{(me) => <Invitations me={me} />}</Gate>
    </Entrance>
  );
}

function Invitations({ me }: { readonly me: Me }) {
  const navigate = useNavigate();
  const joined = () => {
    showDone("You are now a member of the team.");
    void navigate({ to: "/console" });
  };
  const accept = useChange("acceptInvitation", { onSuccess: joined });
  const signOut = useChange("signOut");
  return (
    <Stack>
      <Text>
        Signed in as <strong>{me.email}</strong>.
      </Text>
      {mailedToken === null ? (
        <Waiting onJoined={joined} />
      ) : (
        <Button loading={accept.isPending} onClick={() => accept.mutate({ body: { token: mailedToken ?? "" } })}>
          Accept the invitation
        </Button>
      )}
      <Button variant="subtle" onClick={() => signOut.mutate({})}>
        Use another account
      </Button>
    </Stack>
  );
}

function Waiting({ onJoined }: { readonly onJoined: () => void }) {
  const waiting = useQuery(reading("listMyInvitations", { query: {} }));
  const accept = useChange("acceptInvitationById", { onSuccess: onJoined });
  if (waiting.isPending) return <Loading />;
  if (waiting.isError) return <Problem error={waiting.error} retry={() => void waiting.refetch()} />;
  if (waiting.data.data.length === 0) return <Text c="dimmed">No invitation is waiting for you.</Text>;
  return waiting.data.data.map(({ id, merchantName, role }) => (
    <Card key={id} padding="sm">
      <Group justify="space-between">
        <Text>
          {merchantName}, as {role.toLowerCase()}
        </Text>
        <Button
          size="xs"
          loading={accept.isPending}
          onClick={() => accept.mutate({ params: { invitationId: id } })}
          aria-label={`Accept the invitation of ${merchantName}`}
        >
          Accept
        </Button>
      </Group>
    </Card>
  ));
}

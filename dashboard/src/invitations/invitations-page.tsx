// The signed-in user's pending invitations. An invitation's email links here, with its token in the fragment.
import { Button, Card, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { Me } from "../api/operations.ts";
import { reading, showDone, useChange } from "../api/queries.ts";
import { forgetDrafts } from "../shell/drafts.ts";
import { Loading, Problem } from "../shell/problem.tsx";
import { Time } from "../shell/time.tsx";
import { Entrance } from "../sign-in/entrance.tsx";
import { Gate } from "../sign-in/gate.tsx";
import { mailedToken } from "../sign-in/mailed-token.ts";
import { ROLE_WORDS } from "../team/roles.ts";

export function InvitationsPage() {
  return (
    <Entrance title="Invitation to a team">
      <Gate here="/invitations" intro="Sign in with the address the invitation was sent to. No password needed.">
        {(me) => <Invitations me={me} />}
      </Gate>
    </Entrance>
  );
}

function Invitations({ me }: { readonly me: Me }) {
  const navigate = useNavigate();
  const joined = () => {
    showDone("You have joined the team.");
    void navigate({ to: "/console" });
  };
  const signOut = useChange("signOut", { onSuccess: () => forgetDrafts(sessionStorage) });
  return (
    <Stack>
      <Text>
        Signed in as <strong>{me.email}</strong>.
      </Text>
      <Waiting onJoined={joined} />
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
  if (waiting.data.data.length === 0) return <OfAnother onJoined={onJoined} />;
  return waiting.data.data.map(({ id, merchantName, inviterEmail, role, expiresAt }) => (
    <Card key={id} padding="md">
      <Stack gap="sm">
        <Text>
          <bdi>{inviterEmail}</bdi> has invited you to the team of{" "}
          <strong>
            <bdi>{merchantName}</bdi>
          </strong>
          , as {ROLE_WORDS[role].name.toLowerCase()}.
        </Text>
        <Text size="sm" c="dimmed">
          {ROLE_WORDS[role].about} Nothing happens unless you accept. The invitation expires <Time value={expiresAt} />.
        </Text>
        <Button
          loading={accept.isPending}
          onClick={() => accept.mutate({ params: { invitationId: id } })}
          aria-label={`Accept the invitation to ${merchantName}`}
        >
          Accept
        </Button>
      </Stack>
    </Card>
  ));
}

/** Shown if this account has no invitation. The link is for another account or no longer valid; only an attempt to accept it shows which. */
function OfAnother({ onJoined }: { readonly onJoined: () => void }) {
  const accept = useChange("acceptInvitation", { onSuccess: onJoined });
  if (mailedToken === null) return <Text c="dimmed">You have no invitations.</Text>;
  return (
    <Button loading={accept.isPending} onClick={() => accept.mutate({ body: { token: mailedToken ?? "" } })}>
      Accept the invitation
    </Button>
  );
}

import { Badge, Button, Group, Modal, NativeSelect, Stack, Text, TextInput } from "@mantine/core";
import { isEmail, useForm } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import { outranks, type Role } from "../../../src/accounts/roles/roles.ts";
import { call } from "../api/call.ts";
import type { Invitation } from "../api/operations.ts";
import { showDone, useChange, useGrowingList } from "../api/queries.ts";
import { ConfirmButton } from "../shell/confirm.tsx";
import { Form, refusedIn } from "../shell/form.tsx";
import { GrowingList } from "../shell/growing-list.tsx";
import { Icon } from "../shell/icons.tsx";
import { useMay, useMerchant } from "../shell/merchants.ts";
import { Section } from "../shell/section.tsx";
import { Time } from "../shell/time.tsx";
import { ROLE_WORDS, roleOptions } from "./roles.ts";

const AT_ONCE = 10;

const STATES: Readonly<Record<Invitation["status"], { readonly name: string; readonly color: string }>> = {
  pending: { name: "Pending", color: "blue" },
  accepted: { name: "Accepted", color: "green" },
  expired: { name: "Expired", color: "orange" },
  revoked: { name: "Revoked", color: "gray" },
};

export function InvitationsSection() {
  const { id: merchantId } = useMerchant();
  const mayInvite = useMay("team:invite");
  const [isOpen, { open, close }] = useDisclosure();
  const invitations = useGrowingList(["listInvitations", { merchantId }], (cursor, signal) =>
    call("listInvitations", { merchantId, query: { limit: AT_ONCE, cursor } }, { signal }),
  );
  return (
    <Section
      title="Invitations"
      about="Each invitation email has a single-use link. It expires after 7 days and works only for the invited address."
      actions={
        mayInvite && (
          <Button size="sm" leftSection={<Icon name="plus" size={16} />} onClick={open}>
            Invite
          </Button>
        )
      }
    >
      <GrowingList query={invitations} none="No invitations yet." more="Show older">
        {(invitation) => <InvitationRow invitation={invitation} />}
      </GrowingList>
      <Modal opened={isOpen} onClose={close} title="Invite a team member">
        <InviteForm onDone={close} />
      </Modal>
    </Section>
  );
}

function InvitationRow({ invitation }: { readonly invitation: Invitation }) {
  const { email, role, status, createdAt, expiresAt, mailedAt } = invitation;
  return (
    <Group justify="space-between" gap="sm">
      <Stack gap={2} style={{ flex: "1 1 16rem" }} miw={0}>
        <Group gap="xs">
          <Text fw={600} style={{ overflowWrap: "anywhere" }}>
            {email}
          </Text>
          <Badge color={STATES[status].color}>{STATES[status].name}</Badge>
        </Group>
        <Text size="sm" c="dimmed" component="div">
          {ROLE_WORDS[role].name}, invited <Time value={createdAt} />
          {status === "pending" && (
            <>
              , expires <Time value={expiresAt} />
            </>
          )}
        </Text>
        {status === "pending" && mailedAt === null && (
          <Text size="sm">Email not sent yet: today's limit has been reached.</Text>
        )}
      </Stack>
      {(status === "pending" || status === "expired") && <InvitationActions invitation={invitation} />}
    </Group>
  );
}

function InvitationActions({ invitation: { id, merchantId, email, role } }: { readonly invitation: Invitation }) {
  const { role: ownRole } = useMerchant();
  const mayInvite = useMay("team:invite");
  const resend = useChange("resendInvitation", {
    onSuccess: () => showDone(`Invitation sent to ${email} again.`),
  });
  const revoke = useChange("revokeInvitation", { onSuccess: () => showDone("Invitation revoked.") });
  if (!mayInvite) return null;
  const params = { invitationId: id };
  return (
    <Group gap="xs">
      {ownRole !== null && outranks(ownRole, role) && (
        <Button
          size="xs"
          variant="default"
          loading={resend.isPending}
          aria-label={`Send again: ${email}`}
          onClick={() => resend.mutate({ merchantId, params })}
        >
          Send again
        </Button>
      )}
      <ConfirmButton
        action="Revoke"
        subject={email}
        size="xs"
        isBusy={revoke.isPending}
        consequence={`The link emailed to ${email} stops working. You can invite them again.`}
        onConfirmed={() => revoke.mutate({ merchantId, params })}
      />
    </Group>
  );
}

function InviteForm({ onDone }: { readonly onDone: () => void }) {
  const { id: merchantId, role: ownRole } = useMerchant();
  const form = useForm<{ email: string; role: Role }>({
    initialValues: { email: "", role: "MEMBER" },
    validate: { email: isEmail("Enter an email address") },
  });
  const invite = useChange("inviteMember", {
    isShownInPlace: true,
    onSuccess: ({ email }) => {
      showDone(`Invitation sent to ${email}.`);
      onDone();
    },
  });
  const send = form.onSubmit(({ email, role }) =>
    invite.mutate({ merchantId, body: { email: email.trim(), role } }, refusedIn(form)),
  );
  return (
    <Form onSubmit={send} action="Send invitation" isBusy={invite.isPending}>
      <TextInput label="Email address" type="email" required data-autofocus {...form.getInputProps("email")} />
      <NativeSelect
        label="Role"
        description={ROLE_WORDS[form.values.role].about}
        data={roleOptions(ownRole)}
        {...form.getInputProps("role")}
      />
    </Form>
  );
}

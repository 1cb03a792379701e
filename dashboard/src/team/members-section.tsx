import { Badge, Group, NativeSelect, Stack, Text } from "@mantine/core";
import { outranks } from "../../../src/accounts/roles/roles.ts";
import type { ListedMember } from "../api/operations.ts";
import { showDone, useChange } from "../api/queries.ts";
import { ConfirmButton } from "../shell/confirm.tsx";
import { ConfirmTyped } from "../shell/confirm-typed.tsx";
import { GrowingList } from "../shell/growing-list.tsx";
import { useMay, useMe, useMerchant } from "../shell/merchants.ts";
import { Section } from "../shell/section.tsx";
import { Time } from "../shell/time.tsx";
import { FACTORS } from "./factors.ts";
import { ROLE_WORDS, roleOptions } from "./roles.ts";
import { useMembers } from "./use-members.ts";

export function MembersSection() {
  const members = useMembers();
  return (
    <Section title="Members" about="Members can only assign roles below their own.">
      <GrowingList query={members}>{(member) => <MemberRow member={member} />}</GrowingList>
    </Section>
  );
}

interface Props {
  readonly member: ListedMember;
}

function MemberRow({ member }: Props) {
  const { id } = useMe();
  const { name, email, role, joinedAt, missing, userId } = member;
  return (
    <Group justify="space-between" gap="sm">
      <Stack gap={2} style={{ flex: "1 1 16rem" }} miw={0}>
        <Group gap="xs">
          <Text fw={600} style={{ overflowWrap: "anywhere" }}>
            {name ?? email}
          </Text>
          <Badge color={ROLE_WORDS[role].color}>{ROLE_WORDS[role].name}</Badge>
          {userId === id && <Badge color="green">You</Badge>}
          {missing.length > 0 && <Badge color="orange">Locked out</Badge>}
        </Group>
        <Text size="sm" c="dimmed" component="div" style={{ overflowWrap: "anywhere" }}>
          {name !== null && `${email}, `}joined <Time value={joinedAt} />
        </Text>
        {missing.length > 0 && (
          <Text size="sm">Missing: {missing.map((each) => FACTORS[each].noun).join(", ")}, required by this team.</Text>
        )}
      </Stack>
      <MemberActions member={member} />
    </Group>
  );
}

function MemberActions({ member }: Props) {
  const { role: ownRole } = useMerchant();
  const mayChange = useMay("team:update");
  const mayRemove = useMay("team:remove");
  const { role } = member;
  if (ownRole === null || !outranks(ownRole, role)) return null;
  return (
    <Group gap="xs">
      {mayChange && <RoleSelect member={member} />}
      {ownRole === "OWNER" && <TransferButton member={member} />}
      {mayRemove && <RemoveButton member={member} />}
    </Group>
  );
}

function RoleSelect({ member: { id: memberId, email, role } }: Props) {
  const { id: merchantId, role: ownRole } = useMerchant();
  const change = useChange("changeRole", {
    onSuccess: (now) => showDone(`${now.email} now has the role ${ROLE_WORDS[now.role].name}.`),
  });
  return (
    <NativeSelect
      size="xs"
      aria-label={`Role for ${email}`}
      data={roleOptions(ownRole)}
      value={role}
      disabled={change.isPending}
      onChange={({ currentTarget }) => {
        const chosen = roleOptions(ownRole).find(({ value }) => value === currentTarget.value);
        if (chosen !== undefined) change.mutate({ merchantId, params: { memberId }, body: { role: chosen.value } });
      }}
    />
  );
}

function TransferButton({ member: { id: memberId, email } }: Props) {
  const { id: merchantId, name } = useMerchant();
  const transfer = useChange("transferOwnership", {
    onSuccess: ({ owner }) => showDone(`${owner.email} now owns this merchant. You are an admin.`),
  });
  return (
    <ConfirmTyped
      action="Make owner"
      subject={email}
      size="xs"
      word={name}
      isBusy={transfer.isPending}
      consequence={
        <>
          <strong>{email}</strong> becomes the owner of this merchant, and you become an admin. Only they can transfer
          it back.
        </>
      }
      onConfirmed={() => transfer.mutate({ merchantId, params: { memberId } })}
    />
  );
}

function RemoveButton({ member: { id: memberId, email } }: Props) {
  const { id: merchantId } = useMerchant();
  const remove = useChange("removeMember", { onSuccess: () => showDone(`${email} was removed from the team.`) });
  return (
    <ConfirmButton
      action="Remove"
      subject={email}
      size="xs"
      isBusy={remove.isPending}
      consequence={`${email} loses access to this merchant. What they created is kept, including API keys: revoke the keys they know. You can invite them again.`}
      onConfirmed={() => remove.mutate({ merchantId, params: { memberId } })}
    />
  );
}

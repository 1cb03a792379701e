import { Badge, Button, Collapse, Group, Modal, NativeSelect, Stack, TagsInput, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import { useState } from "react";
import { changedFields } from "../api/changed-fields.ts";
import { wholeFieldErrors } from "../api/errors.ts";
import type { ApiKey } from "../api/operations.ts";
import { showDone, useChange } from "../api/queries.ts";
import { ConfirmTyped } from "../shell/confirm-typed.tsx";
import { Form, refusedIn } from "../shell/form.tsx";
import { useMay, useMerchant } from "../shell/merchants.ts";
import { Time } from "../shell/time.tsx";
import { ADDRESSES_FIELD, LONGEST_NAME } from "./key-fields.ts";
import { KeyPermissions } from "./key-permissions.tsx";

interface Props {
  readonly apiKey: ApiKey;
  /** Called with the new secret after a rotation. */
  readonly onSecret: (secret: string) => void;
}

export function KeyRow({ apiKey, onSecret }: Props) {
  const { name, kind, display, createdAt, permissions } = apiKey;
  const [isOpen, { toggle }] = useDisclosure();
  const permissionsText = permissions.length === 1 ? "1 permission" : `${permissions.length} permissions`;
  return (
    <Stack gap="xs">
      <Group justify="space-between" align="flex-start" gap="sm">
        <Stack gap={2} style={{ flex: "1 1 16rem" }} miw={0}>
          <Group gap="xs">
            <Text fw={600} style={{ overflowWrap: "anywhere" }}>
              {name}
            </Text>
            <KeyMarks apiKey={apiKey} />
          </Group>
          <Text size="sm" className="mono">
            {display}
          </Text>
          <Text size="sm" c="dimmed" component="div">
            {kind === "SECRET" ? "Secret key" : "Public key"}, created <Time value={createdAt} />,{" "}
            <LastUsed {...apiKey} />
            {apiKey.givenTo !== null && `, given to ${apiKey.givenTo}`}
          </Text>
        </Stack>
        <KeyActions apiKey={apiKey} onSecret={onSecret} />
      </Group>
      <Group gap="xs">
        <Button
          size="compact-sm"
          variant="subtle"
          // Aligned with the name above.
          ml={-8}
          onClick={toggle}
          aria-expanded={isOpen}
          aria-label={`${permissionsText}: ${name}`}
        >
          {permissionsText}
        </Button>
        <Text size="sm" c="dimmed">
          {addressesText(apiKey)}
        </Text>
      </Group>
      <Collapse expanded={isOpen}>
        <KeyPermissions names={permissions} />
      </Collapse>
    </Stack>
  );
}

function KeyMarks({ apiKey: { expiresAt, expiresUnusedAt, rotatedUntil } }: Pick<Props, "apiKey">) {
  const isOver = [expiresAt, expiresUnusedAt].some((end) => end !== null && Date.parse(end) <= Date.now());
  const hasOld = rotatedUntil !== null && Date.parse(rotatedUntil) > Date.now();
  return (
    <>
      {isOver && <Badge color="gray">Expired</Badge>}
      {!isOver && expiresUnusedAt !== null && (
        <Badge color="yellow">
          Expires <Time value={expiresUnusedAt} /> if unused
        </Badge>
      )}
      {!isOver && expiresAt !== null && (
        <Badge color="blue">
          Expires <Time value={expiresAt} />
        </Badge>
      )}
      {hasOld && (
        <Badge color="yellow">
          Old secret works until <Time value={rotatedUntil} />
        </Badge>
      )}
    </>
  );
}

function LastUsed({ lastUsedAt }: Pick<ApiKey, "lastUsedAt">) {
  if (lastUsedAt === null) return "never used";
  return (
    <>
      last used <Time value={lastUsedAt} />
    </>
  );
}

function addressesText({ allowedIps }: ApiKey): string {
  return allowedIps === null ? "Works from any IP address" : `Works only from ${allowedIps.join(", ")}`;
}

function KeyActions({ apiKey, onSecret }: Props) {
  const { id: merchantId } = useMerchant();
  const mayChange = useMay("api_key:create");
  const mayDelete = useMay("api_key:delete");
  const [isEditing, editing] = useDisclosure();
  const [isRotating, rotating] = useDisclosure();
  const revoke = useChange("deleteApiKey", { onSuccess: () => showDone("Key revoked.") });
  const { id: apiKeyId, name } = apiKey;
  return (
    <Group gap="xs">
      {mayChange && (
        <>
          <Button size="xs" variant="default" onClick={editing.open} aria-label={`Edit: ${name}`}>
            Edit
          </Button>
          <Button size="xs" variant="default" onClick={rotating.open} aria-label={`Rotate: ${name}`}>
            Rotate
          </Button>
          <Modal opened={isEditing} onClose={editing.close} title="Edit key" size="lg">
            <EditForm apiKey={apiKey} onDone={editing.close} />
          </Modal>
          <Modal opened={isRotating} onClose={rotating.close} title="Rotate key">
            <RotateForm
              apiKeyId={apiKeyId}
              onMade={(secret) => {
                rotating.close();
                onSecret(secret);
              }}
            />
          </Modal>
        </>
      )}
      {mayDelete && (
        <ConfirmTyped
          action="Revoke"
          subject={name}
          size="xs"
          word={name}
          isBusy={revoke.isPending}
          consequence="All requests with this key are refused immediately. This cannot be undone."
          onConfirmed={() => revoke.mutate({ merchantId, params: { apiKeyId } })}
        />
      )}
    </Group>
  );
}

function EditForm({ apiKey, onDone }: { readonly apiKey: ApiKey; readonly onDone: () => void }) {
  const { merchantId, id: apiKeyId } = apiKey;
  const form = useForm({
    initialValues: { name: apiKey.name, allowedIps: [...(apiKey.allowedIps ?? [])] },
    validate: { name: (name) => (name.trim() === "" ? "Enter a name, such as Shop server" : null) },
  });
  const update = useChange("updateApiKey", {
    isShownInPlace: true,
    onSuccess: () => {
      showDone("Key saved.");
      onDone();
    },
  });
  const send = form.onSubmit(({ name, allowedIps }) => {
    // Unchanged addresses are not sent, because only users who could create such a key may set them.
    const body = changedFields(bodyOf(form.getInitialValues()), bodyOf({ name, allowedIps }));
    if (Object.keys(body).length === 0) {
      onDone();
      return;
    }
    update.mutate({ merchantId, params: { apiKeyId }, body }, refusedIn(form, wholeFieldErrors));
  });
  return (
    <Form onSubmit={send} action="Save" isBusy={update.isPending}>
      <TextInput label="Name" required maxLength={LONGEST_NAME} data-autofocus {...form.getInputProps("name")} />
      <TagsInput {...ADDRESSES_FIELD} {...form.getInputProps("allowedIps")} />
      <Text size="sm" c="dimmed">
        A key's permissions and expiry cannot be changed. Create another key and revoke this one instead.
      </Text>
    </Form>
  );
}

function bodyOf({ name, allowedIps }: { readonly name: string; readonly allowedIps: string[] }) {
  return { name: name.trim(), allowedIps: allowedIps.length === 0 ? null : allowedIps };
}

const OVERLAPS = [
  { value: "0", label: "Stops working immediately" },
  { value: "1", label: "Works for another hour" },
  { value: "24", label: "Works for another day" },
  { value: "72", label: "Works for another 3 days" },
];

interface RotateProps {
  readonly apiKeyId: string;
  readonly onMade: (secret: string) => void;
}

function RotateForm({ apiKeyId, onMade }: RotateProps) {
  const { id: merchantId } = useMerchant();
  const [overlap, setOverlap] = useState("24");
  const rotate = useChange("rotateApiKey", { onSuccess: ({ secret }) => onMade(secret) });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        rotate.mutate({ merchantId, params: { apiKeyId }, body: { overlapHours: Number(overlap) } });
      }}
    >
      <Stack>
        <Text size="sm">
          The key gets a new secret and keeps its permissions. Update your server before the old secret stops working.
        </Text>
        <NativeSelect
          label="Old secret"
          data={OVERLAPS}
          value={overlap}
          data-autofocus
          onChange={({ currentTarget }) => setOverlap(currentTarget.value)}
        />
        <Group justify="flex-end">
          <Button type="submit" loading={rotate.isPending}>
            Create new secret
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

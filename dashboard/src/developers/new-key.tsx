import {
  Alert,
  Checkbox,
  Input,
  Modal,
  NativeSelect,
  SegmentedControl,
  SimpleGrid,
  Stack,
  TagsInput,
  Text,
  TextInput,
} from "@mantine/core";
import { useForm } from "@mantine/form";
import type { ReactNode } from "react";
import { keyPermissionName } from "../../../src/accounts/roles/permissions.ts";
import { wholeFieldErrors } from "../api/errors.ts";
import { listed } from "../api/listed.ts";
import type { CreateApiKeyBody } from "../api/operations.ts";
import { useChange } from "../api/queries.ts";
import { Form, refusedIn } from "../shell/form.tsx";
import { useMerchant } from "../shell/merchants.ts";
import type { Permission } from "../shell/pages.ts";
import { permissionGroups } from "../shell/permission-words.ts";
import { ADDRESSES_FIELD, LONGEST_NAME } from "./key-fields.ts";
import {
  HOLDABLE,
  KEY_PRESET_NAMES,
  KEY_PRESETS,
  type Kind,
  presetOfPermissions,
  presetPermissions,
} from "./key-presets.ts";

const KINDS = [
  { value: "SECRET", label: "For a server" },
  { value: "PUBLIC", label: "For a web page" },
];

const ABOUT: Readonly<Record<Kind, string>> = {
  SECRET: "Keep a secret key (sk_) on your server. Anyone who has it can do what you select below.",
  PUBLIC:
    "A public key (pk_) may be visible to anyone. It can create invoices and read products, but not change anything.",
};

const DAY_MS = 24 * 60 * 60 * 1_000;
const LIFETIMES = [
  { value: "", label: "Never" },
  { value: "30", label: "After 30 days" },
  { value: "90", label: "After 90 days" },
  { value: "365", label: "After a year" },
];

interface Props {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onMade: (secret: string) => void;
}

export function NewKey({ isOpen, onClose, onMade }: Props) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="New API key" size="lg">
      <NewKeyForm onMade={onMade} />
    </Modal>
  );
}

interface Values {
  readonly name: string;
  readonly kind: Kind;
  readonly permissions: readonly Permission[];
  readonly allowedIps: string[];
  /** The lifetime in days; "" means that the key never expires. */
  readonly expires: string;
}

function NewKeyForm({ onMade }: Pick<Props, "onMade">) {
  const merchant = useMerchant();
  const form = useForm<Values>({
    initialValues: {
      name: "",
      kind: "SECRET",
      allowedIps: [],
      expires: "",
      permissions: presetPermissions("SHOP", "SECRET", merchant.permissions),
    },
    validate: {
      name: (name) => (name.trim() === "" ? "Enter a name, such as Shop server" : null),
      permissions: (permissions) => (permissions.length === 0 ? "Choose at least one permission" : null),
    },
  });
  const create = useChange("createApiKey", { isShownInPlace: true, onSuccess: ({ secret }) => onMade(secret) });
  const { kind, permissions } = form.values;
  const send = form.onSubmit((values) =>
    create.mutate({ merchantId: merchant.id, body: bodyOf(values) }, refusedIn(form, wholeFieldErrors)),
  );
  return (
    <Form onSubmit={send} action="Create key" isBusy={create.isPending}>
      <TextInput
        label="Name"
        description="Helps you recognise it later, such as Shop server."
        required
        maxLength={LONGEST_NAME}
        data-autofocus
        {...form.getInputProps("name")}
      />
      <Stack gap={6}>
        <SegmentedControl
          aria-label="Key type"
          data={KINDS}
          value={kind}
          transitionDuration={0}
          onChange={(value) => {
            const chosen = value === "PUBLIC" ? "PUBLIC" : "SECRET";
            form.setValues({ kind: chosen, permissions: presetPermissions("SHOP", chosen, merchant.permissions) });
          }}
        />
        <Text size="sm" c="dimmed">
          {ABOUT[kind]}
        </Text>
      </Stack>
      <PermissionsField
        kind={kind}
        held={merchant.permissions}
        chosen={permissions}
        error={form.errors.permissions}
        onChange={(chosen) => form.setFieldValue("permissions", chosen)}
      />
      <TagsInput {...ADDRESSES_FIELD} {...form.getInputProps("allowedIps")} />
      <NativeSelect label="Expires" data={LIFETIMES} {...form.getInputProps("expires")} />
    </Form>
  );
}

function bodyOf({ name, kind, permissions, allowedIps, expires }: Values): CreateApiKeyBody {
  return {
    name: name.trim(),
    kind,
    permissions: permissions.map((each) => listed(keyPermissionName(each))),
    ...(allowedIps.length === 0 ? {} : { allowedIps }),
    ...(expires === "" ? {} : { expiresAt: new Date(Date.now() + Number(expires) * DAY_MS).toISOString() }),
  };
}

interface FieldProps {
  readonly kind: Kind;
  /** The user's own permissions. A user may grant no others. */
  readonly held: readonly Permission[];
  readonly chosen: readonly Permission[];
  readonly error: ReactNode;
  readonly onChange: (chosen: readonly Permission[]) => void;
}

const OWN = "OWN";

function PermissionsField({ kind, held, chosen, error, onChange }: FieldProps) {
  const offered = presetPermissions("ALL", kind, held);
  const isAll = chosen.length === offered.length;
  const preset = presetOfPermissions(chosen, kind, held);
  const turn = (permission: Permission, isOn: boolean) =>
    onChange(isOn ? [...chosen, permission] : chosen.filter((each) => each !== permission));
  return (
    <Stack gap="xs" role="group" aria-label="Permissions">
      <NativeSelect
        label="Key permissions"
        data={[
          ...KEY_PRESETS.map((each) => ({ value: each, label: KEY_PRESET_NAMES[each] })),
          { value: OWN, label: "Only those selected below", disabled: preset !== undefined },
        ]}
        value={preset ?? OWN}
        onChange={({ currentTarget }) => {
          const wanted = KEY_PRESETS.find((each) => each === currentTarget.value);
          if (wanted !== undefined) onChange(presetPermissions(wanted, kind, held));
        }}
      />
      {isAll && offered.length > HOLDABLE.PUBLIC.length && (
        <Alert color="yellow">
          Anyone who gets hold of this key can change your wallets and settings. Give it fewer permissions if you can.
        </Alert>
      )}
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
        {permissionGroups(offered).map(({ name, members }) => (
          <Stack key={name} gap={6} role="group" aria-label={name}>
            <Text size="sm" c="dimmed">
              {name}
            </Text>
            {members.map(({ permission, action }) => (
              <Checkbox
                key={permission}
                label={action}
                aria-label={`${name}: ${action}`}
                checked={chosen.includes(permission)}
                onChange={({ currentTarget }) => turn(permission, currentTarget.checked)}
              />
            ))}
          </Stack>
        ))}
      </SimpleGrid>
      {error !== undefined && <Input.Error>{error}</Input.Error>}
    </Stack>
  );
}

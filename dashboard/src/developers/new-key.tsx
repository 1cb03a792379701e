import {
  Alert,
  Button,
  Checkbox,
  Group,
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
import {
  keyPermissionName,
  PUBLIC_KEY_PERMISSIONS,
  SECRET_KEY_PERMISSIONS,
} from "../../../src/accounts/roles/permissions.ts";
import { wholeFieldErrors } from "../api/errors.ts";
import { listed } from "../api/listed.ts";
import type { CreateApiKeyBody, Merchant } from "../api/operations.ts";
import { useChange } from "../api/queries.ts";
import { Form, refusedIn } from "../shell/form.tsx";
import { useMerchant } from "../shell/merchants.ts";
import type { Permission } from "../shell/pages.ts";
import { permissionGroups } from "../shell/permission-words.ts";
import { ADDRESSES_FIELD, LONGEST_NAME } from "./key-fields.ts";

type Kind = CreateApiKeyBody["kind"];

const HOLDABLE: Readonly<Record<Kind, readonly Permission[]>> = {
  SECRET: SECRET_KEY_PERMISSIONS,
  PUBLIC: PUBLIC_KEY_PERMISSIONS,
};

/** What a shop's server needs to sell, and a shop's page. */
const USUAL: Readonly<Record<Kind, readonly Permission[]>> = {
  SECRET: ["invoice:view", "invoice:create", "invoice:update", "invoice:cancel"],
  PUBLIC: PUBLIC_KEY_PERMISSIONS,
};

const KINDS = [
  { value: "SECRET", label: "For a server" },
  { value: "PUBLIC", label: "For a page" },
];

const ABOUT: Readonly<Record<Kind, string>> = {
  SECRET: "A secret key (sk_) stays on your server. Whoever has it can do what you tick below.",
  PUBLIC: "A public key (pk_) may be read by everybody: it can start invoices and read products, and change nothing.",
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
  /** In days; "" is never. */
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
      permissions: grantable("SECRET", merchant, USUAL.SECRET),
    },
    validate: {
      name: (name) => (name.trim() === "" ? "Enter a name, such as Shop server" : null),
      permissions: (permissions) => (permissions.length === 0 ? "Tick what the key may do" : null),
    },
  });
  const create = useChange("createApiKey", { isShownInPlace: true, onSuccess: ({ secret }) => onMade(secret) });
  const { kind, permissions } = form.values;
  const send = form.onSubmit((values) =>
    create.mutate({ merchantId: merchant.id, body: bodyOf(values) }, refusedIn(form, wholeFieldErrors)),
  );
  return (
    <Form onSubmit={send} action="Create the key" isBusy={create.isPending}>
      <TextInput
        label="Name"
        description="So that you recognise it, such as Shop server."
        required
        maxLength={LONGEST_NAME}
        data-autofocus
        {...form.getInputProps("name")}
      />
      <Stack gap={6}>
        <SegmentedControl
          aria-label="Kind of key"
          data={KINDS}
          value={kind}
          transitionDuration={0}
          onChange={(value) => {
            const chosen = value === "PUBLIC" ? "PUBLIC" : "SECRET";
            form.setValues({ kind: chosen, permissions: grantable(chosen, merchant, USUAL[chosen]) });
          }}
        />
        <Text size="sm" c="dimmed">
          {ABOUT[kind]}
        </Text>
      </Stack>
      <PermissionsField
        offered={grantable(kind, merchant)}
        chosen={permissions}
        error={form.errors.permissions}
        onChange={(chosen) => form.setFieldValue("permissions", chosen)}
      />
      <TagsInput {...ADDRESSES_FIELD} {...form.getInputProps("allowedIps")} />
      <NativeSelect label="Expires" data={LIFETIMES} {...form.getInputProps("expires")} />
    </Form>
  );
}

/** Those of `wanted` that this kind of key may hold and the user may give. */
function grantable(kind: Kind, { permissions }: Merchant, wanted = HOLDABLE[kind]): readonly Permission[] {
  return wanted.filter((each) => HOLDABLE[kind].includes(each) && permissions.includes(each));
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
  readonly offered: readonly Permission[];
  readonly chosen: readonly Permission[];
  readonly error: ReactNode;
  readonly onChange: (chosen: readonly Permission[]) => void;
}

function PermissionsField({ offered, chosen, error, onChange }: FieldProps) {
  const isAll = chosen.length === offered.length;
  const turn = (permission: Permission, isOn: boolean) =>
    onChange(isOn ? [...chosen, permission] : chosen.filter((each) => each !== permission));
  return (
    <Stack gap="xs" role="group" aria-label="What the key may do">
      <Group justify="space-between">
        <Text size="sm" fw={600}>
          What the key may do
        </Text>
        <Button size="compact-sm" variant="subtle" onClick={() => onChange(isAll ? [] : offered)}>
          {isAll ? "Nothing" : "Everything"}
        </Button>
      </Group>
      {isAll && offered.length > HOLDABLE.PUBLIC.length && (
        <Alert color="yellow">
          Whoever gets this key can change your wallets and settings. Tick less where you can.
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

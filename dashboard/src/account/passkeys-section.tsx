import { Badge, Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { call } from "../api/call.ts";
import type { Passkey } from "../api/operations.ts";
import { showDone, useChange, useList } from "../api/queries.ts";
import { ConfirmButton } from "../shell/confirm.tsx";
import { Icon } from "../shell/icons.tsx";
import { Read } from "../shell/read.tsx";
import { Section } from "../shell/section.tsx";
import { Time } from "../shell/time.tsx";
import { hasPasskeys, makePasskey } from "../sign-in/passkey.ts";

const LONGEST_NAME = 100;

export function PasskeysSection() {
  const [isOpen, { open, close }] = useDisclosure();
  const passkeys = useList("listPasskeys", { query: { limit: 100 } });
  return (
    <Section
      title="Passkeys"
      about="Sign in with your fingerprint, face or security key. A passkey also confirms sensitive changes."
      actions={
        hasPasskeys && (
          <Button size="sm" leftSection={<Icon name="plus" size={16} />} onClick={open}>
            Add a passkey
          </Button>
        )
      }
    >
      <Read query={passkeys}>
        {({ data }) =>
          data.length === 0 ? (
            <Text c="dimmed">No passkeys yet. They are the safest and quickest way to sign in.</Text>
          ) : (
            data.map((passkey) => <PasskeyRow key={passkey.id} passkey={passkey} />)
          )
        }
      </Read>
      <Modal opened={isOpen} onClose={close} title="Add a passkey">
        <AddPasskey onAdded={close} />
      </Modal>
    </Section>
  );
}

function PasskeyRow({ passkey }: { readonly passkey: Passkey }) {
  const remove = useChange("removePasskey", { onSuccess: () => showDone("Passkey removed.") });
  return (
    <Group justify="space-between">
      <Stack gap={2}>
        <Group gap="xs">
          <Text fw={600}>{passkey.name}</Text>
          {passkey.isBackedUp && <Badge color="green">Backed up</Badge>}
        </Group>
        <Text size="sm" c="dimmed" component="div">
          Added <Time value={passkey.createdAt} />
          {passkey.lastUsedAt !== null && (
            <>
              , last used <Time value={passkey.lastUsedAt} />
            </>
          )}
        </Text>
      </Stack>
      <ConfirmButton
        action="Remove"
        subject={passkey.name}
        size="xs"
        isBusy={remove.isPending}
        consequence="You will no longer be able to sign in with this passkey. Your device may keep offering it until you delete it there."
        onConfirmed={() => remove.mutate({ params: { passkeyId: passkey.id } })}
      />
    </Group>
  );
}

function AddPasskey({ onAdded }: { readonly onAdded: () => void }) {
  const client = useQueryClient();
  const form = useForm({
    initialValues: { name: "" },
    validate: {
      name: (name) => (name.trim() === "" || name.length > LONGEST_NAME ? "Enter a name, such as Work laptop" : null),
    },
  });
  const add = useMutation({
    mutationFn: async (name: string) => {
      const options = await call("beginPasskeyRegistration", {});
      await call("addPasskey", { body: { name, credential: await makePasskey(options) } });
    },
    onSuccess: () => {
      void client.invalidateQueries();
      showDone("Passkey added.");
      onAdded();
    },
  });
  return (
    <form onSubmit={form.onSubmit(({ name }) => add.mutate(name.trim()))}>
      <Stack>
        <TextInput
          label="Name"
          description="Helps you recognise it later."
          data-autofocus
          {...form.getInputProps("name")}
        />
        <Button type="submit" loading={add.isPending}>
          Continue
        </Button>
      </Stack>
    </form>
  );
}

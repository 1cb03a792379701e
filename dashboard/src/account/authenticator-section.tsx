import { Alert, Badge, Button, Code, Group, Modal, SimpleGrid, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useState } from "react";
import type { TotpSecret } from "../api/operations.ts";
import { showDone, useChange } from "../api/queries.ts";
import { ConfirmButton } from "../shell/confirm.tsx";
import { CopyIcon, CopyText } from "../shell/copy-text.tsx";
import { useMe } from "../shell/merchants.ts";
import { QrCode } from "../shell/qr-code.tsx";
import { Section } from "../shell/section.tsx";

type Step =
  | { readonly kind: "SCAN"; readonly secret: TotpSecret }
  | { readonly kind: "CODES"; readonly codes: readonly string[] };

export function AuthenticatorSection() {
  const { factors } = useMe();
  const [step, setStep] = useState<Step>();
  const close = () => setStep(undefined);
  const begin = useChange("enrolTotp", { onSuccess: (secret) => setStep({ kind: "SCAN", secret }) });
  return (
    <Section
      title="Authenticator app"
      about="A second factor. Signing in without a passkey also requires a code from the app."
      actions={
        factors.totp ? (
          <Badge color="green" size="lg">
            On
          </Badge>
        ) : (
          <Button size="sm" loading={begin.isPending} onClick={() => begin.mutate({})}>
            Set up
          </Button>
        )
      }
    >
      {factors.totp && <OwnApp onCodes={(codes) => setStep({ kind: "CODES", codes })} />}
      <Modal
        opened={step !== undefined}
        onClose={close}
        title={step?.kind === "CODES" ? "Your backup codes" : "Set up an authenticator app"}
        closeOnClickOutside={false}
      >
        {step?.kind === "SCAN" && (
          <Scan secret={step.secret} onConfirmed={(codes) => setStep({ kind: "CODES", codes })} />
        )}
        {step?.kind === "CODES" && <BackupCodes codes={step.codes} onDone={close} />}
      </Modal>
    </Section>
  );
}

/** An authenticator app that is set up, with buttons to replace the backup codes and to remove the app. */
function OwnApp({ onCodes }: { readonly onCodes: (codes: readonly string[]) => void }) {
  const { backupCodesLeft } = useMe().factors;
  const replace = useChange("replaceBackupCodes", { onSuccess: ({ backupCodes }) => onCodes(backupCodes) });
  const remove = useChange("disableTotp", { onSuccess: () => showDone("Authenticator app removed.") });
  return (
    <Group justify="space-between">
      <Text size="sm" c={backupCodesLeft === 0 ? "red" : "dimmed"}>
        {backupCodesLeft} backup codes left.
      </Text>
      <Group gap="sm">
        <ConfirmButton
          action="New backup codes"
          size="xs"
          isBusy={replace.isPending}
          consequence="You get ten new codes, and the old ones stop working."
          onConfirmed={() => replace.mutate({})}
        />
        <ConfirmButton
          action="Remove app"
          size="xs"
          isBusy={remove.isPending}
          consequence="You will no longer need a code from the app to sign in, and your backup codes stop working."
          onConfirmed={() => remove.mutate({})}
        />
      </Group>
    </Group>
  );
}

interface ScanProps {
  readonly secret: TotpSecret;
  readonly onConfirmed: (codes: readonly string[]) => void;
}

function Scan({ secret, onConfirmed }: ScanProps) {
  const form = useForm({
    initialValues: { code: "" },
    validate: {
      code: (code) => (/^\d{6}$/.test(code.replaceAll(" ", "")) ? null : "Enter the 6 digits shown in the app"),
    },
  });
  const confirm = useChange("confirmTotp", {
    isShownInPlace: true,
    isRepeatable: false,
    onSuccess: ({ backupCodes }) => onConfirmed(backupCodes),
  });
  return (
    <form onSubmit={form.onSubmit(({ code }) => confirm.mutate({ body: { code } }))}>
      <Stack>
        <Text size="sm">Scan this with your authenticator app, then enter the code it shows.</Text>
        <Group justify="center">
          <QrCode text={secret.otpauthUri} label="QR code for your authenticator app" />
        </Group>
        <Stack gap={2}>
          <Text size="sm" c="dimmed">
            Or type this secret into the app:
          </Text>
          <CopyText value={secret.secret} name="the secret" />
        </Stack>
        <TextInput
          label="Code from the app"
          inputMode="numeric"
          autoComplete="one-time-code"
          data-autofocus
          {...form.getInputProps("code")}
          error={form.errors.code ?? confirm.error?.message}
        />
        <Button type="submit" loading={confirm.isPending}>
          Turn on
        </Button>
      </Stack>
    </form>
  );
}

function BackupCodes({ codes, onDone }: { readonly codes: readonly string[]; readonly onDone: () => void }) {
  return (
    <Stack>
      <Alert color="orange" title="You will not see these again">
        If you lose your device, sign in with one of these codes. Each works once. Keep them somewhere safe.
      </Alert>
      <SimpleGrid cols={2} spacing="xs">
        {codes.map((code) => (
          <Code key={code} ta="center" fz="md">
            {code}
          </Code>
        ))}
      </SimpleGrid>
      <Group justify="space-between">
        <Group gap={4}>
          <CopyIcon value={codes.join("\n")} name="all codes" />
          <Text size="sm">Copy all</Text>
        </Group>
        <Button onClick={onDone}>I have saved them</Button>
      </Group>
    </Stack>
  );
}

// Asks for a factor, to complete a sign-in or to confirm the user's identity (step-up). The API lists the kinds of factors that it accepts.
import { Alert, Button, Divider, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../api/call.ts";
import type { AskedFactors, PasskeyRequestOptions } from "../api/operations.ts";
import { useChange } from "../api/queries.ts";
import { Icon } from "../shell/icons.tsx";
import { Loading, Problem } from "../shell/problem.tsx";
import { MailboxHint } from "./mailbox-hint.tsx";
import { givePasskey, hasPasskeys } from "./passkey.ts";

type Purpose = "SecondFactor" | "StepUp";

interface Props {
  readonly purpose: Purpose;
  readonly onGiven: () => void;
}

export function FactorForm({ purpose, onGiven }: Props) {
  // The request emails a code to users who need one, so it is sent once per dialog.
  const asked = useQuery({
    queryKey: ["factors", purpose],
    queryFn: () => call(`start${purpose}`, {}),
    staleTime: "static",
    gcTime: 0,
    retry: false,
  });
  if (asked.isPending) return <Loading />;
  if (asked.isError) return <Problem error={asked.error} retry={() => void asked.refetch()} />;
  return <Ways asked={asked.data} purpose={purpose} onGiven={onGiven} again={() => void asked.refetch()} />;
}

function Ways({
  asked,
  purpose,
  onGiven,
  again,
}: Props & { readonly asked: AskedFactors; readonly again: () => void }) {
  const verify = useChange(`verify${purpose}`, { isShownInPlace: true, isRepeatable: false, onSuccess: onGiven });
  const [problem, setProblem] = useState<string>();
  const options = hasPasskeys ? asked.passkey : null;
  const hasCode = asked.factors.some((factor) => factor !== "passkey");
  const verifyPasskey = async (from: PasskeyRequestOptions) => {
    try {
      setProblem(undefined);
      const credential = await givePasskey(from);
      await verify.mutateAsync({ body: { method: "passkey", credential } });
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      // Passkey options work only once, so new ones are requested.
      again();
    }
  };
  return (
    <Stack>
      {options !== null && (
        <Button
          leftSection={<Icon name="key" />}
          onClick={() => void verifyPasskey(options)}
          loading={verify.isPending}
        >
          Use a passkey
        </Button>
      )}
      {options !== null && hasCode && <Divider label="or" />}
      {hasCode && (
        <CodeForm
          factors={asked.factors}
          isBusy={verify.isPending}
          isPrimary={options === null}
          send={async (code) => {
            setProblem(undefined);
            await verify.mutateAsync({ body: { code } }).catch((error: Error) => setProblem(error.message));
          }}
        />
      )}
      {problem !== undefined && (
        <Alert color="red" role="alert">
          {problem}
        </Alert>
      )}
    </Stack>
  );
}

interface CodeProps {
  readonly factors: AskedFactors["factors"];
  readonly isBusy: boolean;
  readonly isPrimary: boolean;
  readonly send: (code: string) => Promise<void>;
}

function CodeForm({ factors, isBusy, isPrimary, send }: CodeProps) {
  const form = useForm({
    initialValues: { code: "" },
    validate: { code: (code) => (code.trim() === "" ? "Enter the code" : null) },
  });
  return (
    <form onSubmit={form.onSubmit(({ code }) => send(code.trim()))}>
      <Stack>
        <TextInput
          label={labelOf(factors)}
          autoComplete="one-time-code"
          data-autofocus={isPrimary ? true : undefined}
          {...form.getInputProps("code")}
        />
        <Button type="submit" variant={isPrimary ? "filled" : "default"} loading={isBusy}>
          Continue
        </Button>
        {factors.includes("email_code") && (
          <>
            <Text size="sm" c="dimmed">
              We sent you an 8-digit code by email. It works for 10 minutes.
            </Text>
            <MailboxHint />
          </>
        )}
      </Stack>
    </form>
  );
}

function labelOf(factors: CodeProps["factors"]): string {
  const places = [
    ...(factors.includes("totp") ? ["from your authenticator app"] : []),
    ...(factors.includes("email_code") ? ["from the email"] : []),
    ...(factors.includes("backup_code") ? ["or a backup code"] : []),
  ];
  return `Code ${places.join(", ")}`;
}

// Signs in: by an email code, a passkey or a provider, then with a second factor if the account has one.
import { Alert, Button, Divider, PinInput, Stack, Text, TextInput } from "@mantine/core";
import { isEmail, useForm } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../api/call.ts";
import type { SignedIn } from "../api/operations.ts";
import { reading, useChange } from "../api/queries.ts";
import { Icon } from "../shell/icons.tsx";
import { FactorForm } from "./factor-form.tsx";
import { MailboxHint } from "./mailbox-hint.tsx";
import { givePasskey, hasPasskeys } from "./passkey.ts";

const PROVIDER_NAMES = { google: "Google", github: "GitHub" } as const;
const CODE_LENGTH = 8;

type Step =
  | { readonly kind: "EMAIL" }
  | { readonly kind: "CODE"; readonly email: string }
  | { readonly kind: "FACTOR" };

interface Props {
  /**
   * EMAIL for a new sign-in. Otherwise the missing step: a second factor, or the code that proves access to the mailbox after a provider's sign-in.
   */
  readonly first: Step;
  /** The path to which a provider sends the browser back. */
  readonly here: string;
  readonly onSignedIn: () => void;
}

export function SignInForm({ first, here, onSignedIn }: Props) {
  const [step, setStep] = useState<Step>(first);
  const settle = (answer: SignedIn) => (answer.state === "active" ? onSignedIn() : setStep({ kind: "FACTOR" }));
  switch (step.kind) {
    case "EMAIL":
      return <EmailStep here={here} onSent={(email) => setStep({ kind: "CODE", email })} onSignedIn={settle} />;
    case "CODE":
      return <CodeStep email={step.email} onSignedIn={settle} onBack={() => setStep({ kind: "EMAIL" })} />;
    case "FACTOR":
      return (
        <Stack>
          <Text>Your account requires a second factor.</Text>
          <FactorForm purpose="SecondFactor" onGiven={onSignedIn} />
        </Stack>
      );
  }
}

interface EmailProps {
  readonly here: string;
  readonly onSent: (email: string) => void;
  readonly onSignedIn: (answer: SignedIn) => void;
}

function EmailStep({ here, onSent, onSignedIn }: EmailProps) {
  const form = useForm({
    initialValues: { email: "" },
    validate: { email: isEmail("Enter an email address, such as ann@example.com") },
  });
  const send = useChange("startEmailSignIn", { isShownInPlace: true, isRepeatable: false });
  const { data: methods } = useQuery(reading("listSignInMethods", {}));
  const [problem, setProblem] = useState<string>();
  const withPasskey = async () => {
    try {
      setProblem(undefined);
      const options = await call("beginPasskeySignIn", {});
      onSignedIn(await call("verifyPasskeySignIn", { body: { credential: await givePasskey(options) } }));
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  const shown = problem ?? send.error?.message;
  return (
    <Stack>
      <form
        onSubmit={form.onSubmit(({ email }) => send.mutate({ body: { email } }, { onSuccess: () => onSent(email) }))}
      >
        <Stack>
          <TextInput
            label="Email address"
            type="email"
            autoComplete="email webauthn"
            placeholder="you@example.com"
            {...form.getInputProps("email")}
          />
          <Button type="submit" loading={send.isPending}>
            Send me a code
          </Button>
        </Stack>
      </form>
      {(hasPasskeys || (methods?.providers.length ?? 0) > 0) && <Divider label="or" />}
      {hasPasskeys && (
        <Button variant="default" leftSection={<Icon name="key" />} onClick={() => void withPasskey()}>
          Sign in with a passkey
        </Button>
      )}
      {methods?.providers.map((provider) => (
        <Button
          key={provider}
          variant="default"
          component="a"
          href={`/api/v1/auth/${provider}/start?returnTo=${encodeURIComponent(here)}`}
        >
          Sign in with {PROVIDER_NAMES[provider]}
        </Button>
      ))}
      {shown !== undefined && (
        <Alert color="red" role="alert">
          {shown}
        </Alert>
      )}
    </Stack>
  );
}

interface CodeProps {
  readonly email: string;
  readonly onSignedIn: (answer: SignedIn) => void;
  readonly onBack: () => void;
}

function CodeStep({ email, onSignedIn, onBack }: CodeProps) {
  const [code, setCode] = useState("");
  const verify = useChange("verifyEmailSignIn", { isShownInPlace: true, isRepeatable: false, onSuccess: onSignedIn });
  const send = (complete: string) => verify.mutate({ body: { email, code: complete } });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        send(code);
      }}
    >
      <Stack>
        <Text>
          We sent an {CODE_LENGTH}-digit code to <strong>{email}</strong>.
        </Text>
        <MailboxHint email={email} />
        <div>
          <Text component="div" id="code-label" fw={500} size="sm" mb={4}>
            Code
          </Text>
          <PinInput
            length={CODE_LENGTH}
            type="number"
            oneTimeCode
            autoFocus
            size="md"
            gap={6}
            placeholder=""
            aria-labelledby="code-label"
            getInputProps={(place) => ({ "aria-label": `Digit ${Number(place) + 1} of the code` })}
            value={code}
            onChange={setCode}
            onComplete={send}
            error={verify.isError}
          />
        </div>
        {verify.isError && (
          <Alert color="red" role="alert">
            {verify.error.message}
          </Alert>
        )}
        <Button type="submit" loading={verify.isPending} disabled={code.length < CODE_LENGTH}>
          Sign in
        </Button>
        <Button variant="subtle" onClick={onBack}>
          Use another address
        </Button>
      </Stack>
    </form>
  );
}

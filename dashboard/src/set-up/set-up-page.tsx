// Redeems a set-up link: the user who opened it gets a passkey, becomes an operator of the deployment, is asked to test its alerts and to choose data
// sources, and names a shop next.
import { Alert, Button, Stack, Text, TextInput } from "@mantine/core";
import { isEmail, useForm } from "@mantine/form";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { call } from "../api/call.ts";
import { ApiError } from "../api/errors.ts";
import { Icon } from "../shell/icons.tsx";
import { Entrance } from "../sign-in/entrance.tsx";
import { hasPasskeys, makePasskey } from "../sign-in/passkey.ts";
import { AlertsStep } from "./alerts-step.tsx";
import { MakeLink } from "./make-link.tsx";
import { setUpToken } from "./set-up-token.ts";
import { SourcesStep } from "./sources-step.tsx";

const LONGEST_NAME = 200;

export function SetUpPage() {
  const [isOver, setOver] = useState(false);
  const [steps, setSteps] = useState<readonly Step[]>([]);
  const navigate = useNavigate();
  const proceed = (left: readonly Step[]) => {
    if (left.length === 0) void navigate({ to: "/console" });
    else setSteps(left);
  };
  const [step, ...later] = steps;
  if (step === "ALERTS") return <AlertsStep onDone={() => proceed(later)} />;
  if (step === "SOURCES") return <SourcesStep onDone={() => proceed(later)} />;
  if (setUpToken === null) return <WithoutLink about="This page needs a set-up link. If you had one, open it again." />;
  if (isOver)
    return (
      <WithoutLink>
        <Alert color="red" title="This link no longer works" role="alert">
          It was already used, replaced by a newer one, or is older than 24 hours.
        </Alert>
      </WithoutLink>
    );
  return (
    <Entrance
      title="Set up Edgetill"
      about="You will become an operator of this deployment and sign in with a passkey."
    >
      {hasPasskeys ? (
        <SetUpForm token={setUpToken} onOver={() => setOver(true)} onRedeemed={proceed} />
      ) : (
        <Alert color="red" role="alert">
          This browser does not support passkeys. Open the link in another one.
        </Alert>
      )}
    </Entrance>
  );
}

function WithoutLink({ about, children }: { readonly about?: string; readonly children?: ReactNode }) {
  return (
    <Entrance title="Set up Edgetill" {...(about === undefined ? {} : { about })}>
      {children}
      <MakeLink />
    </Entrance>
  );
}

type Step = "ALERTS" | "SOURCES";

interface SetUpFormProps {
  readonly token: string;
  readonly onOver: () => void;
  /** Called with what is left to be set up. */
  readonly onRedeemed: (steps: readonly Step[]) => void;
}

function SetUpForm({ token, onOver, onRedeemed }: SetUpFormProps) {
  const client = useQueryClient();
  const form = useForm({
    initialValues: { name: "", email: "" },
    validate: {
      name: (name) =>
        name.trim() === "" || [...name].length > LONGEST_NAME ? "Enter your name, such as Ann Example" : null,
      email: isEmail("Enter an email address, such as ann@example.com"),
    },
  });
  const setUp = useMutation({
    meta: { isShownInPlace: true },
    mutationFn: async ({ name, email }: typeof form.values) => {
      const options = await call("beginSetUp", { body: { token, email, name: name.trim() } });
      return call("redeemSetUpLink", { body: { token, credential: await makePasskey(options) } });
    },
    onSuccess: async () => {
      // Another user may have been signed in before, in the same browser.
      client.clear();
      onRedeemed(await readSteps());
    },
    onError: (error) => {
      if (error instanceof ApiError && error.code === "SETUP_LINK_INVALID") onOver();
    },
  });
  return (
    <form onSubmit={form.onSubmit((values) => setUp.mutate(values))}>
      <Stack>
        <TextInput label="Your name" autoComplete="name" placeholder="Ann Example" {...form.getInputProps("name")} />
        <TextInput
          label="Email address"
          type="email"
          autoComplete="email"
          placeholder="you@example.com"
          description="If you already have an account here, enter its email address."
          inputWrapperOrder={["label", "input", "description", "error"]}
          {...form.getInputProps("email")}
        />
        {setUp.isError && (
          <Alert color="red" role="alert">
            {setUp.error.message}
          </Alert>
        )}
        <Button type="submit" leftSection={<Icon name="key" />} loading={setUp.isPending}>
          Create a passkey
        </Button>
        <Text size="sm" c="dimmed">
          The passkey works only at <span className="mono">{location.hostname}</span>. Next, you test alerts, choose
          data sources and name your shop.
        </Text>
      </Stack>
    </form>
  );
}

/** The steps for alerts that were not proved, and for a deployment that reads no network; both if that cannot be read, because each can be skipped. */
async function readSteps(): Promise<readonly Step[]> {
  try {
    const [{ alerts }, { data }] = await Promise.all([call("readDeploymentStatus", {}), call("listNetworks", {})]);
    const isWatching = data.some(({ hasSource }) => hasSource);
    return [...(alerts.state === "UNPROVED" ? ["ALERTS" as const] : []), ...(isWatching ? [] : ["SOURCES" as const])];
  } catch {
    return ["ALERTS", "SOURCES"];
  }
}

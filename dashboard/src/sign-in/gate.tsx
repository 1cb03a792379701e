// Shows its content to a signed-in user, and the sign-in to others: for pages that emails link to.
import { Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ApiError } from "../api/errors.ts";
import type { Me } from "../api/operations.ts";
import { isSignedOut } from "../api/queries.ts";
import { ME } from "../shell/merchants.ts";
import { Loading, Problem } from "../shell/problem.tsx";
import { SignInForm } from "./sign-in-form.tsx";

/** If a provider sent the browser back with a mailbox still to prove: the address the code was sent to. Read once, then forgotten. */
const proof = new URLSearchParams(location.hash.slice(1)).get("proof");
if (proof !== null) history.replaceState(history.state, "", location.pathname + location.search);

interface Props {
  readonly here: string;
  /** Shown above the sign-in. */
  readonly intro?: string;
  readonly children: (me: Me) => ReactNode;
}

export function Gate({ here, intro, children }: Props) {
  const me = useQuery(ME);
  if (me.isPending) return <Loading />;
  const { data, error } = me;
  if (!(error instanceof ApiError) || !isSignedOut(error)) {
    // A later failed read removes nothing.
    return data === undefined ? <Problem error={error} retry={() => void me.refetch()} /> : children(data);
  }
  return (
    <Stack>
      {intro !== undefined && <Text>{intro}</Text>}
      <SignInForm first={firstStep(error)} here={here} onSignedIn={() => void me.refetch()} />
    </Stack>
  );
}

function firstStep({ code }: ApiError) {
  if (code === "SECOND_FACTOR_REQUIRED") return { kind: "FACTOR" } as const;
  return proof === null ? ({ kind: "EMAIL" } as const) : ({ kind: "CODE", email: proof } as const);
}

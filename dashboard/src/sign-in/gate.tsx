// Shows its content to a signed-in user, and the sign-in form to anyone else. For pages that emails link to.
import { Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ApiError } from "../api/errors.ts";
import type { Me } from "../api/operations.ts";
import { isSignedOut } from "../api/queries.ts";
import { ME } from "../shell/merchants.ts";
import { Loading, Problem } from "../shell/problem.tsx";
import { SignInForm } from "./sign-in-form.tsx";

/**
 * The email address to which a code was sent. Set if a provider sent the browser back and the user must still prove access to the mailbox. It is read
 * once from the URL's fragment, which is then removed.
 */
const proof = new URLSearchParams(location.hash.slice(1)).get("proof");
if (proof !== null) history.replaceState(history.state, "", location.pathname + location.search);

interface Props {
  readonly here: string;
  /** Shown above the sign-in form. */
  readonly intro?: string;
  readonly children: (me: Me) => ReactNode;
}

export function Gate({ here, intro, children }: Props) {
  const me = useQuery(ME);
  if (me.isPending) return <Loading />;
  const { data, error } = me;
  if (!(error instanceof ApiError) || !isSignedOut(error)) {
    // If a later refetch fails, the content that is already loaded stays visible.
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

import { Button, Stack, Text } from "@mantine/core";
import { useEffect, useRef } from "react";
import type { Redirect } from "../../../src/accounts/applications/question.ts";
import type { Right } from "../../../src/accounts/applications/rights.ts";

export interface Answer {
  readonly secret: string;
  readonly merchantId: string;
}

interface Props {
  readonly redirect: Redirect;
  readonly rights: readonly Right[];
  readonly answer: Answer;
}

/** Sends the key in a form and never in a URL, because histories and logs store URLs. The page's policy allows only the origin that is shown. */
export function SendKey({ redirect, rights, answer: { secret, merchantId } }: Props) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.submit(), []);
  return (
    <form ref={form} method="post" action={redirect.url}>
      <input type="hidden" name="apiKey" value={secret} />
      {rights.map((right) => (
        <input key={right} type="hidden" name="permissions[]" value={`${right}:${merchantId}`} />
      ))}
      <Stack>
        <Text role="status">The key was created and is being sent to your shop.</Text>
        <Button type="submit" variant="default">
          Continue to {redirect.origin}
        </Button>
      </Stack>
    </form>
  );
}

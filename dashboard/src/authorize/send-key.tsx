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

/** The key goes in a form and never in an address, which histories and logs keep. The page's policy allows only the shown origin. */
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
          Go on to {redirect.origin}
        </Button>
      </Stack>
    </form>
  );
}

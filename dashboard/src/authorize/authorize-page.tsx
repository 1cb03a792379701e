// The page to which a shop's plugin sends a user to request a key, as with BTCPay Server. An application's claims about itself prove nothing. What
// counts is the address to which the key is sent, which the page shows in full and the browser enforces.
import { Alert, Button, Code, Group, NativeSelect, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { type Question, readQuestion } from "../../../src/accounts/applications/question.ts";
import { permissionsOfRights, rightWords } from "../../../src/accounts/applications/rights.ts";
import type { Me, Merchant } from "../api/operations.ts";
import { useChange } from "../api/queries.ts";
import { CopyText } from "../shell/copy-text.tsx";
import { questionToken } from "../shell/deployment.ts";
import { MERCHANTS } from "../shell/merchants.ts";
import { Loading, Problem } from "../shell/problem.tsx";
import { Entrance } from "../sign-in/entrance.tsx";
import { Gate } from "../sign-in/gate.tsx";
import { type Answer, SendKey } from "./send-key.tsx";

const SEEN_AFTER_MS = 1_000;

const asked = new URLSearchParams(location.search);
const read = readQuestion(asked);

export function AuthorizePage() {
  return (
    <Entrance title="Connect an application">
      {read.ok && questionToken !== undefined ? (
        <Gate here={`${location.pathname}?${asked}`} intro="Sign in to see what the application is asking for.">
          {(me) => <Asked me={me} question={read.value} token={questionToken ?? ""} />}
        </Gate>
      ) : (
        <Stack>
          <Alert color="red" role="alert">
            {read.ok ? "Open this page from the application again." : read.error}
          </Alert>
          <Text size="sm" c="dimmed">
            No key was created. Go back to the application, or ask its developer.
          </Text>
        </Stack>
      )}
    </Entrance>
  );
}

interface AskedProps {
  readonly me: Me;
  readonly question: Question;
  readonly token: string;
}

function Asked({ me, question, token }: AskedProps) {
  const merchants = useQuery(MERCHANTS);
  const [answer, setAnswer] = useState<Answer>();
  if (merchants.isPending) return <Loading />;
  if (merchants.isError) return <Problem error={merchants.error} retry={() => void merchants.refetch()} />;
  if (answer !== undefined) return <Given question={question} answer={answer} />;
  const able = merchants.data.data.filter((each) => canGive(each, question));
  return (
    <Stack>
      <Text>
        An application that calls itself{" "}
        <strong>
          <bdi>{question.application}</bdi>
        </strong>{" "}
        is asking you, <strong>{me.email}</strong>, for an API key for your shop.
      </Text>
      <Destination question={question} />
      <Stack gap={4}>
        <Text fw={600}>With this key, it can:</Text>
        <ul style={{ margin: 0, paddingInlineStart: "1.25rem" }}>
          {question.rights.map((right) => (
            <Text key={right} size="sm" component="li">
              {rightWords(right)}
            </Text>
          ))}
        </ul>
        <Text size="sm" c="dimmed">
          It can never move money: Edgetill does not have your wallets' private keys.
        </Text>
      </Stack>
      {question.refused.length > 0 && (
        <Text size="sm" c="dimmed" style={{ overflowWrap: "anywhere" }}>
          It also asks for permissions that no application can have: {question.refused.join(", ")}.
        </Text>
      )}
      {able.length === 0 ? (
        <Alert color="yellow">
          None of your shops gives you all of these permissions. Ask a team's owner or an admin to connect the
          application.
        </Alert>
      ) : (
        <Choice able={able} question={question} token={token} onAnswer={setAnswer} />
      )}
    </Stack>
  );
}

/** Where the key goes: the origin in large type, because the decision depends on it, with the full address below. */
function Destination({ question: { redirect } }: Pick<AskedProps, "question">) {
  if (redirect === undefined)
    return (
      <Text>
        The application did not say where to send the key. It will be shown here for you to paste into the application.
      </Text>
    );
  return (
    <Stack gap={4}>
      <Text fw={600}>The key will be sent to</Text>
      <Text className="mono" size="lg" style={{ overflowWrap: "anywhere" }}>
        {redirect.origin}
      </Text>
      {/(?:\/\/|\.)xn--/.test(redirect.origin) && (
        <Alert color="yellow">
          This domain name has letters from other alphabets, which can make it look like another one. Check that it is
          your shop's.
        </Alert>
      )}
      <Code block style={{ overflowWrap: "anywhere", whiteSpace: "pre-wrap" }}>
        {redirect.url}
      </Code>
      <Text size="sm" c="dimmed">
        Continue only if this is your own shop.
      </Text>
    </Stack>
  );
}

interface ChoiceProps extends Omit<AskedProps, "me"> {
  readonly able: readonly Merchant[];
  readonly onAnswer: (answer: Answer) => void;
}

function Choice({ able, question, token, onAnswer }: ChoiceProps) {
  const [chosen, setChosen] = useState(able[0]?.id ?? "");
  const give = useChange("authorizeApplication", {
    isShownInPlace: true,
    // PrestaShop's form accepts only letters and digits, and the plugins' API accepts the key without its `_`.
    onSuccess: ({ secret, merchantId }) => onAnswer({ secret: secret.replace("_", ""), merchantId }),
  });
  const isSeen = useSeen();
  const { application, redirect, rights } = question;
  const body = { question: token, application, redirect: redirect?.url ?? null, rights: [...rights] };
  return (
    <Stack>
      <NativeSelect
        label="Shop"
        value={chosen}
        onChange={({ currentTarget }) => setChosen(currentTarget.value)}
        data={able.map(({ id, name }) => ({ value: id, label: name }))}
      />
      {give.isError && (
        <Alert color="red" role="alert">
          {give.error.message}
        </Alert>
      )}
      <Group justify="flex-end">
        <Button component={Link} to="/console" variant="default">
          Cancel
        </Button>
        <Button loading={give.isPending} disabled={!isSeen} onClick={() => give.mutate({ merchantId: chosen, body })}>
          Create key
        </Button>
      </Group>
    </Stack>
  );
}

/**
 * Whether the page has been shown for a second. Another page could provoke a double click and disappear between the two clicks, so that the second
 * click lands here.
 */
function useSeen(): boolean {
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSeen(true), SEEN_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return isSeen;
}

function Given({ question, answer }: { readonly question: Question; readonly answer: Answer }) {
  const { redirect, rights } = question;
  if (redirect !== undefined) return <SendKey redirect={redirect} rights={rights} answer={answer} />;
  return (
    <Stack>
      <Alert color="yellow" title="You will not see this again">
        <CopyText value={answer.secret} name="the key" />
      </Alert>
      <Text size="sm">Paste it into the application. It expires in one hour if it is not used.</Text>
    </Stack>
  );
}

/** Whether the user may create keys for this merchant, and has everything the application requests. */
function canGive({ permissions }: Merchant, { rights }: Question): boolean {
  return ["api_key:create" as const, ...permissionsOfRights(rights)].every((each) =>
    permissions.some((own) => own === each),
  );
}

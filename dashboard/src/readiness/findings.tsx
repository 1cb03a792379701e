import { Text } from "@mantine/core";
import { useFormats } from "../shell/reader.tsx";
import { Time } from "../shell/time.tsx";
import type { Finding } from "./coins.ts";

/** Why customers cannot pay with a coin, in the service's own sentences. */
export function Findings({ findings }: { readonly findings: readonly Finding[] }) {
  return findings.map((finding) => (
    <Text key={`${finding.code} ${finding.detail}`} size="sm" component="div" style={{ overflowWrap: "anywhere" }}>
      <FindingText {...finding} />
    </Text>
  ));
}

function FindingText({ detail, since, until, secondsBehind, blocksBehind }: Finding) {
  const { count, duration } = useFormats();
  return (
    <>
      {detail}
      {secondsBehind !== null && ` It is ${duration(secondsBehind)}`}
      {secondsBehind !== null && blocksBehind !== null && ` (${count(blocksBehind)} blocks)`}
      {secondsBehind !== null && " behind."}
      {since !== null && (
        <>
          {" "}
          Since <Time value={since} />.
        </>
      )}
      {until !== null && (
        <>
          {" "}
          Until <Time value={until} />.
        </>
      )}
    </>
  );
}

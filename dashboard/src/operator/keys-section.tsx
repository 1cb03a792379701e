import { Badge, Divider, Group, Stack, Text } from "@mantine/core";
import { Fragment } from "react";
import type { KeyUse } from "../api/operations.ts";
import { useList } from "../api/queries.ts";
import { Read } from "../shell/read.tsx";
import { useFormats } from "../shell/reader.tsx";
import { Section } from "../shell/section.tsx";
import { Time } from "../shell/time.tsx";

/** The service counts every stored row that depends on a key, so the list is not polled. */
export function KeysSection() {
  const keys = useList("listKeys", {});
  return (
    <Section title="Keys" about="Newest first. You can remove an older key from its setting once no rows depend on it.">
      <Read query={keys}>
        {({ data }) => (
          <Stack>
            {data.map((use, place) => (
              <Fragment key={`${use.setting} ${use.keyId}`}>
                {place > 0 && <Divider />}
                <KeyRow use={use} />
              </Fragment>
            ))}
          </Stack>
        )}
      </Read>
    </Section>
  );
}

function KeyRow({ use: { setting, keyId, isNewest, left, retirableAt } }: { readonly use: KeyUse }) {
  const { count } = useFormats();
  const rows = Object.values(left).reduce((sum, each) => sum + (each ?? 0), 0);
  return (
    <Group justify="space-between" gap="sm">
      <Group gap="xs" style={{ flex: "1 1 16rem" }} miw={0}>
        <Text fw={600} style={{ overflowWrap: "anywhere" }}>
          {setting}
        </Text>
        <Text c="dimmed" style={{ overflowWrap: "anywhere" }}>
          {keyId}
        </Text>
        {isNewest && <Badge color="green">In use</Badge>}
      </Group>
      <Text size="sm" c="dimmed" component="div" className="numbers">
        {retirableAt !== null ? (
          <>
            Can be removed after <Time value={retirableAt} />
          </>
        ) : (
          `${count(rows)} ${rows === 1 ? "row" : "rows"}`
        )}
      </Text>
    </Group>
  );
}

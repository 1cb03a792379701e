import { Group, Stack, Text } from "@mantine/core";
import { call } from "../api/call.ts";
import { useGrowingList } from "../api/queries.ts";
import { MoreButton } from "../shell/growing-list.tsx";
import { Read } from "../shell/read.tsx";
import { Section } from "../shell/section.tsx";
import { Time } from "../shell/time.tsx";

const AT_ONCE = 10;

/** Activity on the account, so that its owner notices what others did with it. */
export function ActivitySection() {
  const activity = useGrowingList(["listMyAuditEvents"], (cursor, signal) =>
    call("listMyAuditEvents", { query: { limit: AT_ONCE, cursor } }, { signal }),
  );
  return (
    <Section
      title="Recent activity"
      about="Security changes to your account. If you do not recognise one, end all other sessions."
    >
      <Read query={activity}>
        {(rows) => (
          <Stack gap="xs">
            {rows.map(({ id, action, createdAt, ip }) => (
              <Group key={id} justify="space-between" gap="xs">
                <Text size="sm">{actionText(action)}</Text>
                <Text size="sm" c="dimmed" component="div">
                  <Time value={createdAt} />
                  {ip !== null && ` from ${ip}`}
                </Text>
              </Group>
            ))}
            <MoreButton query={activity} />
          </Stack>
        )}
      </Read>
    </Section>
  );
}

/** Turns `session.created` into `Session created`. */
function actionText(action: string): string {
  const text = action.replaceAll(/[._]/g, " ");
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

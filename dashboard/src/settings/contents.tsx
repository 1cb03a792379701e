// The table of contents next to the settings: links to the parts of the page.
import { NavLink, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { PARTS, type Part } from "./parts.ts";

export function Contents({ parts }: { readonly parts: readonly Part[] }) {
  const groups = Object.entries(Object.groupBy(parts, (part) => PARTS[part].group));
  return (
    <Stack component="nav" aria-label="Settings sections" gap="md" className="contents">
      {groups.map(([group, members = []]) => (
        <div key={group}>
          <Text size="xs" fw={600} c="dimmed" px="sm" pb={4}>
            {group}
          </Text>
          {members.map((part) => (
            <NavLink
              key={part}
              label={PARTS[part].title}
              py={6}
              renderRoot={(props) => (
                <Link to="." hash={part} replace activeOptions={{ includeHash: true }} {...props} />
              )}
            />
          ))}
        </div>
      ))}
    </Stack>
  );
}

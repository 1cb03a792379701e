import { ActionIcon, CopyButton, Group, Text, Tooltip } from "@mantine/core";
import { Icon } from "./icons.tsx";

interface Props {
  readonly value: string;
  /** The noun in the button's name: `Copy the address`. */
  readonly name: string;
  /** The displayed text; the value itself by default. */
  readonly shown?: string;
}

/** A text to copy, such as an id, an address or a link. */
export function CopyText({ value, name, shown = value }: Props) {
  return (
    <Group gap={4} wrap="nowrap" align="flex-start">
      <Text span className="mono" inherit>
        {shown}
      </Text>
      <CopyIcon value={value} name={name} />
    </Group>
  );
}

export function CopyIcon({ value, name }: Pick<Props, "value" | "name">) {
  return (
    <CopyButton value={value} timeout={2_000}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? "Copied" : `Copy ${name}`}>
          <ActionIcon
            variant="subtle"
            color={copied ? "green" : "gray"}
            size="sm"
            onClick={copy}
            aria-label={copied ? "Copied" : `Copy ${name}`}
          >
            <Icon name={copied ? "check" : "copy"} size={15} />
          </ActionIcon>
        </Tooltip>
      )}
    </CopyButton>
  );
}

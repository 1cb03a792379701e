import { Group, MultiSelect, Radio, Stack } from "@mantine/core";
import type { Inputs } from "../shell/form.tsx";
import { EVENT_GROUPS } from "./event-groups.ts";
import { ALL_OF_PLUGINS, type Format, type Heard } from "./heard.ts";

interface Props {
  readonly form: Inputs<"format" | "hears" | "events">;
  readonly heard: Heard;
  /** Absent if the format is fixed: it never changes. */
  readonly onFormat?: (format: Format) => void;
}

export function HearsField({ form, heard: { format, hears, events }, onFormat }: Props) {
  const isOfPlugin = format === "GREENFIELD";
  return (
    <Stack>
      {onFormat !== undefined && (
        <Radio.Group
          label="Format"
          value={format}
          onChange={(value) => onFormat(value === "GREENFIELD" ? "GREENFIELD" : "STANDARD")}
        >
          <Group mt={6}>
            <Radio value="STANDARD" label="Edgetill's own" />
            <Radio value="GREENFIELD" label="For a shop plugin of BTCPay Server" />
          </Group>
        </Radio.Group>
      )}
      <Radio.Group label="Events to send" {...form.getInputProps("hears")}>
        <Group mt={6}>
          {isOfPlugin && <Radio value="SETTLED" label="Invoice settled" />}
          <Radio
            value="ALL"
            label={isOfPlugin ? "Every change of an invoice, if the plugin checks the event type" : "Every event"}
          />
          {(!isOfPlugin || hears === "CHOSEN" || events.length > 0) && (
            <Radio value="CHOSEN" label="Only the ones I choose" />
          )}
        </Group>
      </Radio.Group>
      {hears === "CHOSEN" && (
        <MultiSelect
          label="Events"
          description={
            isOfPlugin
              ? "Only events that this format has a name for."
              : "A name with a star covers every event of its kind, including future ones."
          }
          data={isOfPlugin ? [...ALL_OF_PLUGINS] : [...EVENT_GROUPS, "ping"]}
          searchable
          clearable
          clearButtonProps={{ "aria-label": "No event" }}
          {...form.getInputProps("events")}
        />
      )}
    </Stack>
  );
}

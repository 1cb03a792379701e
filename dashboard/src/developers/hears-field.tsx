import { Group, MultiSelect, Radio, Stack } from "@mantine/core";
import type { Inputs } from "../shell/form.tsx";
import { EVENT_GROUPS } from "./event-groups.ts";
import { ALL_OF_PLUGINS, type Format, type Heard } from "./heard.ts";

interface Props {
  readonly form: Inputs<"format" | "hears" | "events">;
  readonly heard: Heard;
  /** Absent for an existing endpoint, because its format never changes. */
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
            <Radio value="STANDARD" label="Edgetill" />
            <Radio value="GREENFIELD" label="BTCPay Server (for shop plugins)" />
          </Group>
        </Radio.Group>
      )}
      <Radio.Group label="Events to send" {...form.getInputProps("hears")}>
        <Group mt={6}>
          {isOfPlugin && <Radio value="SETTLED" label="Invoice settled" />}
          <Radio
            value="ALL"
            label={isOfPlugin ? "All invoice events, if the plugin checks the event type" : "All events"}
          />
          {(!isOfPlugin || hears === "CHOSEN" || events.length > 0) && <Radio value="CHOSEN" label="Selected events" />}
        </Group>
      </Radio.Group>
      {hears === "CHOSEN" && (
        <MultiSelect
          label="Events"
          description={
            isOfPlugin
              ? "Lists only the events that exist in this format."
              : "A name that ends in * covers all events of its kind, including future ones."
          }
          data={isOfPlugin ? [...ALL_OF_PLUGINS] : [...EVENT_GROUPS, "ping"]}
          searchable
          clearable
          clearButtonProps={{ "aria-label": "Clear events" }}
          {...form.getInputProps("events")}
        />
      )}
    </Stack>
  );
}

import { Tooltip } from "@mantine/core";
import { useFormats } from "./reader.tsx";

/** A moment, with its seconds and time zone on hover. */
export function Time({ value }: { readonly value: string }) {
  const { dateTime, exactTime } = useFormats();
  return (
    <Tooltip label={exactTime(value)}>
      <time dateTime={value} className="numbers">
        {dateTime(value)}
      </time>
    </Tooltip>
  );
}
